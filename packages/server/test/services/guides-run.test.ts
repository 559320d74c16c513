import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type GuideBlock, readGuide } from '#harness/guide.ts'
import {
  canHaveMachine,
  type GuideStep,
  machineNeeds,
  runOnMachine,
  writeSettings,
} from '#harness/guide-machine.ts'
import { skipSuite } from '#harness/skip-suite.ts'

const name = 'the commands of the guides, on a fresh machine'
const proxyName = 'the nginx of the installing guide, in front of the server'

/** The machine that takes over has a backup and the key. */
const takeOver = `cp /var/lib/kith/master.key /mnt/home/master.key && chown admin /mnt/home/master.key
mv /var/backups/kith/kith-2*.tar /var/backups/kith/kith-20270131T033000Z.tar
systemctl stop kith && rm -r /var/lib/kith/*
`

const hasNginx = spawnSync('which', ['nginx', 'openssl', 'curl']).status === 0
/** The certificate that the administrator of nginx got, and then what a visitor sees through it. */
const beforeNginx = `mount -t tmpfs none /var/log && mkdir -p /var/log/nginx /var/lib/nginx /etc/nginx/conf.d
at=/etc/letsencrypt/live/example.com && mkdir -p $at
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=example.com \\
  -addext 'subjectAltName=DNS:example.com,DNS:*.example.com' -keyout $at/privkey.pem -out $at/fullchain.pem 2>/dev/null
`
const throughNginx = `at=/etc/letsencrypt/live/example.com
through() { curl --silent --show-error --cacert $at/fullchain.pem --resolve "*:443:127.0.0.1" --resolve "*:80:127.0.0.1" "$@"; }
for name in example.com alice.example.com; do
  through https://$name/.well-known/service/id-tag | grep --quiet "\\"idTag\\":\\"$name\\""
done
through --output /dev/null --write-out '%{http_code} %{redirect_url}' http://example.com/x | grep --quiet '^301 https://example.com/x$'
# The visitor's address counts, and not what it claims: the server says with HSTS that it took the request for https.
through --head https://example.com/api/me | grep --quiet --ignore-case '^strict-transport-security:'
head -c 3000000 /dev/zero >/mnt/large
through --output /dev/null --write-out '%{http_code}' --data-binary @/mnt/large https://example.com/api/files/raw/x | grep --quiet '^401$'
`

async function stepsOf(): Promise<GuideStep[]> {
  const runnable = (page: string) =>
    readGuide(`docs/operations/${page}.md`).filter(({ how }) => how === 'run')
  const [users, firstStart, tenant] = runnable('install') as [GuideBlock, GuideBlock, GuideBlock]
  const nginx = readGuide('docs/operations/install.md').filter(({ how }) => how === 'nginx')
  const [firstBackup, ...restoring] = runnable('backup') as [GuideBlock, ...GuideBlock[]]
  const others = ['administration', 'registration'].flatMap(runnable)
  const proxy = hasNginx ? [beforeNginx, ...nginx, throughNginx] : []
  return [
    users,
    await writeSettings(),
    firstStart,
    tenant,
    ...proxy,
    firstBackup,
    ...others,
    takeOver,
    ...restoring,
  ]
}

describe(name, () => {
  if (!canHaveMachine()) return skipSuite(name, machineNeeds)
  if (!hasNginx) skipSuite(proxyName, 'needs nginx, openssl and curl')
  test('each does what the guide says, as an ordinary user with sudo', { timeout: 400_000 }, async () => {
    expect(await runOnMachine(await stepsOf())).toMatch(/== all steps are done\n$/)
  })
})

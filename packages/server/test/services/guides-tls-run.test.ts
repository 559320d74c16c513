import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type GuideBlock, readGuide } from '#harness/guide.ts'
import {
  canHaveMachine,
  type GuideStep,
  machineNeeds,
  runOnMachine,
  settingsBelow,
  settingsStep,
  writeSettings,
} from '#harness/guide-machine.ts'
import { skipSuite } from '#harness/skip-suite.ts'

const installing = 'docs/operations/install.md'
const securing = 'docs/operations/tls.md'
const pebble = process.env.TEST_PEBBLE
const has = (...programs: string[]) => programs.every((each) => spawnSync('which', [each]).status === 0)

/** A machine at the address of the guide, to which its names lead. */
const town = `ip address add 192.0.2.10/32 dev lo
mkdir --mode 755 /mnt/town && rm --force /etc/resolv.conf && echo 'nameserver 127.0.0.1' >/etc/resolv.conf
at=/opt/kith/current
$at/node_modules/.bin/node $at/packages/server/test/harness/guide-town.ts /mnt/town ${pebble ?? ''} >/dev/null 2>&1 &
echo $! >/mnt/services/town.pid
until [ -e /mnt/town/ready ]; do kill -0 $!; sleep 0.1; done
`

/** Requests as a browser of that authority's world makes them, and what every way to https must answer. */
const through = (root: string) => `root=${root}
through() { curl --silent --show-error --cacert $root "$@"; }
serial() { openssl s_client -connect 192.0.2.10:443 -servername "$1" </dev/null 2>/dev/null | openssl x509 -noout -serial; }
for name in example.com alice.example.com; do
  until through https://$name/.well-known/service/id-tag 2>/mnt/why | grep --quiet "\\"idTag\\":\\"$name\\""; do
    [ $SECONDS -lt 120 ] || { cat /mnt/why; kith certificate list; grep error /mnt/journal; exit 1; }
    sleep 0.5
  done
done
through --head https://example.com/api/me | grep --quiet --ignore-case '^strict-transport-security:'
`

/** What only whoever got through could do: a file of some size comes back as it went, and a socket answers. */
const use = `token=$(through https://example.com/api/auth/login --json '{"idTag":"example.com","password":"a password for the trial"}' |
  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
head -c 3000000 /dev/urandom >/mnt/large
file=$(through https://example.com/api/files/raw/large.bin --header "Authorization: Bearer $token" \\
  --header 'Content-Type: application/octet-stream' --data-binary @/mnt/large | sed 's/.*"fileId":"\\([^"]*\\)".*/\\1/')
through "https://example.com/api/files/$file?variant=orig" --header "Authorization: Bearer $token" | cmp - /mnt/large
cd /opt/kith/current/packages/server
TOKEN=$token NODE_EXTRA_CA_CERTS=$root timeout 60 ../../node_modules/.bin/node --input-type=module --eval "
  import { WebSocket } from 'ws'
  const socket = new WebSocket('wss://example.com/ws/bus?token=' + process.env.TOKEN)
  socket.on('open', () => socket.send(JSON.stringify({ id: 1, cmd: 'ping' })))
  socket.on('message', (text) => process.exit(/pong/.test(text) ? 0 : 1))
  socket.on('close', () => process.exit(1))
"
`

function named(page: string, ...words: string[]): GuideBlock {
  const [found, ...more] = readGuide(page).filter(({ script }) =>
    words.every((word) => script.includes(word)),
  )
  if (!found || more.length > 0)
    throw new Error(`${page} has ${more.length + (found ? 1 : 0)} blocks with ${words}`)
  return found
}

async function acmeSteps(): Promise<GuideStep[]> {
  const lines = await settingsBelow(securing, '## From a bare machine to https')
  return [
    `${settingsStep(lines)}cat >>/etc/kith/.env <<END
ACME_DIRECTORY=$(cat /mnt/town/directory)
ACME_CA_FILE=/mnt/town/authority.pem
ALLOW_PRIVATE_NETWORK=127.0.0.0/8,192.0.2.10/32
END
`,
    named(securing, 'certificate list'),
    `kith tenant create alice.example.com --email alice@example.org >/dev/null
echo 'a password for the trial' | kith tenant password example.com --stdin >/dev/null
`,
    `${through('/mnt/town/root.pem')}${use}
through --output /dev/null --write-out '%{http_code} %{redirect_url}' http://example.com/x | grep --quiet '^308 https://example.com/x$'
through --http2 --output /dev/null --write-out '%{http_version}' https://example.com/api/me | grep --quiet '^2$'
openssl s_client -connect 192.0.2.10:443 -servername example.com -verify_hostname example.com -CAfile $root \
  -verify_return_error -alpn h2 </dev/null 2>&1 | grep --quiet 'ALPN protocol: h2'
[ "$(ps -o user= -p "$(cat /mnt/services/kith.pid)")" = kith ]
before=$(serial example.com)
kith certificate renew example.com
until [ "$(serial example.com)" != "$before" ]; do [ $SECONDS -lt 120 ]; sleep 0.5; done
`,
  ]
}

async function filesSteps(): Promise<GuideStep[]> {
  const files = await settingsBelow(securing, '## A certificate of your own')
  const others = ['BASE_ID_TAG=example.com', 'DATA_DIR=/var/lib/kith', 'ALLOW_PRIVATE_NETWORK=192.0.2.10/32']
  const [certificate, renewed] = [
    named(securing, 'fullchain.pem', 'openssl x509'),
    named(securing, 'systemctl reload'),
  ]
  const ca = through('/mnt/home/ca.pem')
  return [
    settingsStep([...others, ...files]),
    named(securing, '-keyout ca.key'),
    certificate,
    named(securing, 'fullchain.pem', 'systemctl restart'),
    named(securing, 'authority.conf'),
    `${ca}${use}serial example.com >/mnt/before\n`,
    certificate,
    renewed,
    `${ca}until [ "$(serial example.com)" != "$(cat /mnt/before)" ]; do [ $SECONDS -lt 15 ]; sleep 0.1; done
serial example.com >/mnt/before && : >/mnt/journal
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out /mnt/home/privkey.pem
`,
    renewed,
    `${ca}until grep --quiet '"level":"warn"\\|"level":"error"' /mnt/journal; do [ $SECONDS -lt 60 ]; sleep 0.1; done
[ "$(serial example.com)" = "$(cat /mnt/before)" ]
if systemctl restart kith >/mnt/refused 2>&1; then exit 1; fi
grep --quiet 'TLS_KEY' /mnt/refused
`,
  ]
}

async function caddySteps(): Promise<GuideStep[]> {
  return [
    `${await writeSettings()}systemctl restart kith
mkdir --mode 750 /var/lib/caddy && chown caddy:caddy /var/lib/caddy
`,
    named(installing, 'apt install --yes caddy'),
    // In the place of Let's Encrypt an authority of Caddy's own, which no guide has: who gets a certificate is asked all the same.
    `sed --in-place '0,/^{$/s##{\\n\\tlocal_certs\\n\\tskip_install_trust#' /etc/caddy/Caddyfile
systemctl reload caddy
${through('/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt')}${use}
through --output /dev/null --write-out '%{http_code} %{redirect_url}' http://example.com/x | grep --quiet '^308 https://example.com/x$'
# Nobody lives there.
if through https://stranger.example.com/ --resolve stranger.example.com:443:192.0.2.10 2>/dev/null; then exit 1; fi
`,
  ]
}

describe('the guides to TLS and Caddy, on a fresh machine', () => {
  if (!canHaveMachine() || !has('openssl', 'curl') || !pebble)
    return skipSuite(
      'the guides to TLS and Caddy',
      `${machineNeeds}, openssl, curl, and Pebble at TEST_PEBBLE`,
    )
  if (!has('caddy')) skipSuite('the Caddy of the installing guide, in front of the server', 'needs caddy')
  test('each way to https does what the guide says', { timeout: 400_000 }, async () => {
    const steps = [named(installing, 'useradd'), town, ...(await acmeSteps()), ...(await filesSteps())]
    if (has('caddy')) steps.push(...(await caddySteps()))
    expect(await runOnMachine(steps)).toMatch(/== all steps are done\n$/)
  })
})

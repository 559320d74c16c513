import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { type GuideBlock, readGuide } from '../../packages/server/test/harness/guide.ts'
import {
  canHaveMachine,
  type GuideStep,
  machineNeeds,
  runOnMachine,
  writeSettings,
} from '../../packages/server/test/harness/guide-machine.ts'
import { skipSuite } from '../../packages/server/test/harness/skip-suite.ts'
import { Installation } from './installation.ts'

const name = 'the guides of installing and upgrading, with releases, on a fresh machine'
const nextVersion = '99.0.0'

/** Signs in, and has one action after the other published while the steps after this one are done. */
const beginLoad = `cat >/mnt/load.sh <<'END'
ask() { curl --silent --fail --header 'Host: example.com' --header 'Content-Type: application/json' "$@"; }
token=$(ask http://127.0.0.1:8080/api/auth/login --data '{"idTag":"example.com","password":"a password for the trial"}' |
  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
# What a step that fails leaves behind ends by itself.
until [ -e /mnt/load-ends ] || [ $SECONDS -gt 300 ]; do
  id=$(ask http://127.0.0.1:8080/api/actions --header "Authorization: Bearer $token" \\
    --data '{"type":"POST","content":{"text":"Hello"},"visibility":"P"}' |
    sed --quiet 's/.*"actionId":"\\([^"]*\\)".*/\\1/p')
  [ -z "$id" ] || echo "$id" >>/mnt/acknowledged
  sleep 0.05
done
touch /mnt/load-ended
END
echo 'a password for the trial' | kith tenant password example.com --stdin >/dev/null
touch /mnt/acknowledged
bash /mnt/load.sh >/dev/null 2>&1 </dev/null &
`
const waitForMore = `wanted=$(($(wc --lines </mnt/acknowledged) + 50))
until [ "$(wc --lines </mnt/acknowledged)" -gt $wanted ]; do [ $SECONDS -lt 60 ]; sleep 0.1; done
`
const missing = `ids() {
  for id in $(cat "$1"); do
    curl --silent --fail --output /dev/null --header 'Host: example.com' "http://127.0.0.1:8080/api/actions/$id" || echo "missing: $id"
  done
}
`
const keepBefore = `${waitForMore}cp /mnt/acknowledged /mnt/before\n`
const checkAfter = `${waitForMore}touch /mnt/load-ends
until [ -e /mnt/load-ended ]; do sleep 0.1; done
${missing}ids /mnt/acknowledged
echo "acknowledged: $(wc --lines </mnt/acknowledged)"
kith doctor --json | grep --quiet 'commit ffffffffffff'
`
const checkBack = `${missing}ids /mnt/before\necho "before the upgrade: $(wc --lines </mnt/before)"\n`

/** The block as a reader types it, with what the machine has in the place of names in capitals. */
function typed(block: GuideBlock, names: Readonly<Record<string, string>>): GuideBlock {
  const script = Object.entries(names).reduce((text, [from, to]) => text.replaceAll(from, to), block.script)
  return { ...block, script }
}

async function stepsOf(version: string): Promise<GuideStep[]> {
  const of = (page: string, how: GuideBlock['how']) =>
    readGuide(`docs/operations/${page}.md`).filter((block) => block.how === how)
  const [unpack] = of('install', 'release')
  const [users, firstStart] = of('install', 'run')
  const [upgrade, back] = of('upgrade', 'release')
  const [backups] = of('backup', 'run')
  if (!unpack || !users || !firstStart || !upgrade || !back || !backups)
    throw new Error('a guide has lost a block')
  return [
    typed(unpack, { VERSION: version }),
    users,
    await writeSettings(),
    firstStart,
    backups,
    beginLoad,
    keepBefore,
    typed(upgrade, { VERSION: nextVersion }),
    checkAfter,
    // There is one copy; the refusal of the former release would name it.
    typed(back, { FORMER: version, 'kith-TIME-MIGRATION.db': 'kith-*.db' }),
    checkBack,
  ]
}

/** What the administrator has brought to the machine: the release in `dist`, and a newer one. */
async function makeHome(folder: string, archive: string, release: string): Promise<string> {
  const home = join(folder, 'home')
  await mkdir(join(home, 'dist'), { recursive: true })
  await cp(archive, join(home, 'dist', basename(archive)))
  const place = await Installation.make(folder)
  const next = `kith-${nextVersion}-linux-x64`
  await place.unpack(archive, release)
  await place.makeNext(release, next, 'f'.repeat(40))
  const run = promisify(execFile)
  await run('tar', ['-czf', join(home, `${next}.tar.gz`), '-C', join(folder, 'releases'), next])
  const { stdout } = await run('sha256sum', [`${next}.tar.gz`], { cwd: home })
  await writeFile(join(home, `${next}.tar.gz.sha256`), stdout)
  return home
}

if (!canHaveMachine() || process.arch !== 'x64') skipSuite(name, `${machineNeeds}, on x86-64`)
else
  test(name, { timeout: 400_000 }, async () => {
    const archive = inject('archive')
    const [release = '', version = ''] = /kith-(.*)-linux-x64/.exec(basename(archive)) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'kith-upgrade-'))
    try {
      const said = await runOnMachine(await stepsOf(version), await makeHome(folder, archive, release))
      expect(said).toMatch(/== all steps are done\n$/)
      expect(said).not.toContain('missing:')
      expect(Number(/^acknowledged: (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(100)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

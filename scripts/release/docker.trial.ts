import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readGuide } from '../../packages/server/test/harness/guide.ts'
import { canHaveMachine, machineNeeds } from '../../packages/server/test/harness/guide-machine.ts'
import { skipSuite } from '../../packages/server/test/harness/skip-suite.ts'
import {
  buildScript,
  contractOf,
  localCommands,
  quoted,
  readService,
  readStages,
  type Service,
} from './image.ts'

// There is no engine here. What is its own is done by image.sh and by this file, and so not tried: that FROM finds its images, the
// networks and published ports of compose files, restarts, dependencies between services, and the images of others. What takes
// packages from the network is listed below. Every other command of the Dockerfile, the check, the start and those of the guide are run.

const name = 'the image and the guide to Docker, without an engine'
const root = resolve(import.meta.dirname, '../..')

type Image = ReturnType<typeof contractOf>

/** `docker` of the machine: it starts a service as its compose file and the image say, and runs commands in it. */
function engine({ env, user, folder, command, check }: Image, service: Service): string {
  const given = Object.entries({ ...env, ...service.environment }).map(
    ([key, value]) => `${key}=${quoted((value ?? '').replace('$PATH', '/usr/local/bin:/usr/bin:/bin'))}`,
  )
  const inside = (words: string) =>
    `chroot /mnt/last/root setpriv ${rightsOf(service)} --reuid ${user} --regid ${user} --init-groups env -i HOME=/data ${given.join(' ')} sh -c 'cd ${folder} && exec "$@"' sh ${words}`
  return `#!/bin/bash
set -euo pipefail
start() {
  ${inside(command.map(quoted).join(' '))} >/mnt/ready 2>/mnt/journal </dev/null &
  echo $! >/mnt/pid
  until grep --quiet ready /mnt/ready; do kill -0 $! || { cat /mnt/journal; exit 1; }; sleep 0.1; done
}
case "$*" in
  'compose up --detach --build') start ;;
  'compose exec kith '*) shift 3 && ${inside('"$@"')} ;;
  check) ${inside(check.map(quoted).join(' '))} ;;
  *) echo "docker $* is not known here" >&2 && exit 1 ;;
esac
`
}

function rightsOf({ cap_drop = [], security_opt = [] }: Service): string {
  const dropped = cap_drop.includes('ALL') ? '--bounding-set=-all --inh-caps=-all' : ''
  return `${dropped} ${security_opt.includes('no-new-privileges:true') ? '--no-new-privs' : ''}`
}

/** Puts the volumes and the file system of a service in place; what an image has at a volume is in a new one. */
function placeOf(service: Service): string {
  const volumes = service.volumes.map((volume) => {
    const [from = '', to = ''] = volume.split(':')
    return `rm -rf /mnt/volumes/${from} && cp -a /mnt/last/root${to} /mnt/volumes/${from} && mount --bind /mnt/volumes/${from} /mnt/last/root${to}`
  })
  const remount = service.read_only ? ['mount -o remount,bind,ro /mnt/last/root'] : []
  return [...volumes, ...remount].join('\n')
}

const stop = `kill "$(cat /mnt/pid)"
wait_until=$((SECONDS + 15))
while kill -0 "$(cat /mnt/pid)" 2>/dev/null; do [ $SECONDS -lt $wait_until ]; sleep 0.1; done
`

const checks = `echo '== the health of a server, and of none'
docker check
if chroot /mnt/last/root touch /app/x 2>/dev/null; then echo 'it may be written to'; exit 1; fi
[ "$(stat --format %u:%g:%a /mnt/last/root/data/master.key)" = 10001:10001:600 ]
`

async function script(): Promise<string> {
  const stages = await readStages()
  const base = stages.find((stage) => stage.name === 'base')
  if (!base) throw new Error('there is no stage base')
  const image = contractOf(base)
  const given = { BASE_ID_TAG: 'example.com' }
  const [plain, tls] = [
    await readService('compose.yaml', given),
    await readService('compose.tls.yaml', given),
  ]
  const [guide] = readGuide('docs/operations/install.md').filter(({ script }) =>
    script.includes('docker compose'),
  )
  const kept = stages.filter((stage) => stage.name !== 'postgres')
  const prelude = await readFile(join(root, 'scripts/release/image.sh'), 'utf8')
  return `REPOSITORY=${root}
${prelude}
${buildScript(kept, { COMMIT: 'f'.repeat(40) })}
export PATH=/mnt/bin:/usr/sbin:/usr/bin:/sbin:/bin
install -m 755 /dev/stdin /mnt/bin/docker <<'ENGINE'
${engine(image, plain)}ENGINE
${placeOf(plain)}
if docker check 2>/dev/null; then echo 'healthy before it runs'; exit 1; fi
echo '== the guide'
bash -euo pipefail <<'GUIDE'
${guide?.script ?? 'exit 1'}
GUIDE
${checks}${stop}
if docker check 2>/dev/null; then echo 'healthy after its end'; exit 1; fi
echo '== compose.tls.yaml'
install -m 755 /dev/stdin /mnt/bin/docker <<'ENGINE'
${engine(image, tls)}ENGINE
docker compose up --detach --build
${checks}ss --no-header --tcp --listening --numeric | grep --quiet ':8443 '
${stop}
echo '== all is done'
`
}

test('what is left out takes packages from the network', async () => {
  const runs = (await readStages()).flatMap(({ instructions }) =>
    instructions.filter(({ keyword }) => keyword === 'RUN'),
  )
  expect(runs.flatMap(({ rest }) => localCommands(rest).left)).toEqual([
    'npm ci --ignore-scripts --no-audit --no-fund',
    'apt-get update',
    'apt-get install --yes --no-install-recommends binutils libatomic1',
    'npm ci --omit=dev --no-audit --no-fund',
    'apt-get update',
    'apt-get install --yes --no-install-recommends libatomic1',
    'rm -rf /var/lib/apt/lists/*',
    'apt-get update',
    'apt-get install --yes --no-install-recommends postgresql-client-17',
    'rm -rf /var/lib/apt/lists/*',
  ])
})

if (!canHaveMachine()) skipSuite(name, machineNeeds)
else
  test(name, { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kith-image-'))
    try {
      const path = join(folder, 'script.sh')
      await writeFile(path, await script())
      const words = [
        '--mount',
        '--net',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        'bash',
        '-c',
        `exec bash ${path} 2>&1`,
      ]
      const { stdout } = await promisify(execFile)('unshare', words, { maxBuffer: 2 ** 24 }).catch(
        (error) => error,
      )
      expect(stdout).toMatch(/== all is done\n$/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { openImages } from '#infra/images/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { commit, shortCommit, version } from '../../version.ts'
import { examineNode } from './examine-node.ts'
import { examine, type Finding, ok, problem, type Verdict } from './finding.ts'

// A picture of one pixel (PNG).
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
// The program was not there before.
const earliestMs = Date.UTC(2026, 0, 1)
// A clock that is set right may be some minutes behind the one before.
const toleratedMs = 5 * 60_000

/** What has nothing to do with the data of this server. */
export function examineMachine(config: Config, clock: Clock): Promise<Finding>[] {
  return [
    examine('Version', () =>
      ok(`${version}${commit === undefined ? '' : `, commit ${shortCommit(commit)}`}.`),
    ),
    examine('Node.js', () => examineNode()),
    examine('Pictures', makePicture),
    examine('Clock', () => examineClock(config, clock)),
  ]
}

/** Starts the process in which pictures are made and has it make one. */
async function makePicture(): Promise<Verdict> {
  const tempDir = await mkdtemp(join(tmpdir(), 'kith-doctor-'))
  const images = await openImages({ tempDir, logger: silentLogger })
  try {
    const [inputPath, outputDir] = [join(tempDir, 'pixel.png'), join(tempDir, 'made')]
    await writeFile(inputPath, Buffer.from(pixel, 'base64'))
    await mkdir(outputDir)
    const result = await images.process({
      tenantId: serverTenant,
      inputPath,
      outputDir,
      preset: 'default',
      format: 'webp',
    })
    if (result.kind === 'made') return ok('The image library works.')
    return problem(`A picture could not be made: ${result.reason}`, 'Reinstall the packages: npm ci')
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return problem(
      'The image library could not be loaded.',
      'Reinstall the packages on this machine (npm ci): the library has a part for each kind of machine.',
    )
  } finally {
    await images.close()
    await rm(tempDir, { recursive: true, force: true })
  }
}

async function examineClock({ database }: Config, clock: Clock): Promise<Verdict> {
  const nowMs = clock.now()
  const advice = 'Set the clock and keep it right with NTP: tokens and signatures depend on it.'
  if (nowMs < earliestMs) return problem(`It says ${new Date(nowMs).toISOString()}.`, advice)
  const written = database.kind === 'sqlite' ? await stat(database.path).catch(() => undefined) : undefined
  if (written && written.mtimeMs > nowMs + toleratedMs)
    return problem(`It is behind: the database was written at ${written.mtime.toISOString()}.`, advice)
  return ok(`It says ${new Date(nowMs).toISOString()}.`)
}

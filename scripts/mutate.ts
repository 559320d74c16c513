import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { glob, readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createVitest, type TestSpecification, type Vitest } from 'vitest/node'
import { type Mutant, mutantsOf } from './mutate/mutants.ts'

const usage = `node scripts/mutate.ts <files or folders> --tests <filter> [--tests <filter of slower ones>]
  --share 0.2 --seed 1   tries a part of the mutants   --lines 10-40   only those of some lines
  --list                 names them and runs nothing `

// A test that a mutant makes wait has failed long before; an endless loop ends with its worker.
const testTimeoutMs = 10_000
const longestRunMs = 60_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true, default: [] },
    share: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    lines: { type: 'string', default: '1-1000000' },
    list: { type: 'boolean', default: false },
  },
})

interface Place {
  readonly file: string
  readonly mutant: Mutant
}

// What the test runner is given in place of a file: nothing is ever written to the sources.
let current: { readonly file: string; readonly text: string } | undefined

const workers: ChildProcess[] = []
subscribe('child_process', (message) => workers.push((message as { process: ChildProcess }).process))

await main()

async function main(): Promise<void> {
  const places = await listPlaces()
  if (positionals.length === 0 || (values.tests.length === 0 && !values.list)) throw new Error(usage)
  if (values.list) {
    for (const place of places) console.log(describe(place))
    return
  }
  const runner = await startRunner()
  if (await isKilled(runner))
    throw new Error('The tests fail, or there are none, before anything is changed.')
  const first = places[0]
  if (first && !(await tryText(runner, first.file, 'throw new Error()')))
    throw new Error('The tests do not import what is to be changed.')
  const survivors: string[] = []
  for (const [index, place] of places.entries()) {
    const startedMs = performance.now()
    const verdict = await tryText(runner, place.file, place.mutant.text)
    if (!verdict) survivors.push(describe(place))
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    console.log(`${index + 1}/${places.length} ${verdict || 'SURVIVED'} ${seconds} s  ${describe(place)}`)
  }
  await runner.vitest.close()
  const killed = places.length - survivors.length
  console.log(`\n${places.length} mutants, ${killed} killed, ${survivors.length} survived`)
  for (const survivor of survivors) console.log(survivor)
  process.exit(survivors.length > 0 ? 1 : 0)
}

async function listPlaces(): Promise<Place[]> {
  const [first = 1, last = first] = values.lines.split('-').map(Number)
  const files: string[] = []
  for (const name of positionals)
    for await (const file of glob([name, `${name}/**/*.ts`]))
      if (file.endsWith('.ts') && !file.endsWith('.test.ts')) files.push(resolve(file))
  const places: Place[] = []
  for (const file of new Set(files.sort()))
    for (const mutant of mutantsOf(await readFile(file, 'utf8')))
      if (mutant.line >= first && mutant.line <= last) places.push({ file, mutant })
  const random = seeded(Number(values.seed))
  return places.filter(() => random() < Number(values.share))
}

interface Runner {
  readonly vitest: Vitest
  /** Those of a stage run only when those before it have not noticed anything. */
  readonly stages: readonly (readonly TestSpecification[])[]
}

async function startRunner(): Promise<Runner> {
  const options = {
    watch: false,
    bail: 1,
    maxWorkers: 1,
    testTimeout: testTimeoutMs,
    expect: { poll: { timeout: testTimeoutMs } },
    reporters: [{}],
    silent: true,
    // Sources pass through plugins only here; else Node reads them itself.
    experimental: { viteModuleRunner: true },
    // What is kept on the disk is not asked for again, and mutants shall not be kept there.
    fsModuleCache: false,
  }
  const plugin = {
    name: 'mutant',
    enforce: 'pre' as const,
    transform: (_code: string, id: string) =>
      id === current?.file ? { code: current.text, map: null } : undefined,
  }
  const vitest = await createVitest(options, { plugins: [plugin] })
  await vitest.standalone()
  const stages = []
  for (const filter of values.tests) stages.push(await vitest.globTestSpecifications(filter.split(',')))
  return { vitest, stages }
}

async function tryText(runner: Runner, file: string, text: string) {
  current = { file, text }
  runner.vitest.invalidateFile(file)
  const verdict = await isKilled(runner)
  current = undefined
  runner.vitest.invalidateFile(file)
  return verdict
}

async function isKilled({ vitest, stages }: Runner): Promise<'' | 'killed' | 'endless'> {
  for (const specifications of stages) {
    let isEndless = false
    // A worker in an endless loop hears nothing: without it the run ends.
    const timer = setTimeout(() => {
      isEndless = true
      workers.at(-1)?.kill('SIGKILL')
    }, longestRunMs)
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([...specifications])
    clearTimeout(timer)
    if (isEndless) return 'endless'
    const isGood = testModules.length > 0 && testModules.every((module) => module.ok())
    if (!isGood || unhandledErrors.length > 0) return 'killed'
  }
  return ''
}

function describe({ file, mutant: { line, column, was, becomes } }: Place): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 90)
  return `${relative('.', file)}:${line}:${column}  ${short(was)}  ->  ${short(becomes) || '(nothing)'}`
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

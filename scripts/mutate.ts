import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { glob, readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createVitest, type TestSpecification, type Vitest } from 'vitest/node'
import { type Mutant, mutantsOf } from './mutate/mutants.ts'
import {
  firstLimits,
  type Limits,
  limitsAfter,
  type TestRun,
  type Verdict,
  verdictOf,
} from './mutate/verdict.ts'

const usage = `node scripts/mutate.ts <files or folders> --tests <filter> [--tests <filter of slower ones>]
  --share 0.2 --seed 1   tries a part of the mutants   --lines 10-40   only those of some lines
  --list                 names them and runs nothing `

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
  await setLimits(runner)
  const first = places[0]
  if (first && (await tryText(runner, first.file, 'throw new Error()')) === 'survived')
    throw new Error('The tests do not import what is to be changed.')
  const tried: Record<Verdict, string[]> = { survived: [], 'timed out': [], killed: [] }
  for (const [index, place] of places.entries()) {
    const startedMs = performance.now()
    const verdict = await tryText(runner, place.file, place.mutant.text)
    tried[verdict].push(describe(place))
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    const shown = verdict === 'survived' ? 'SURVIVED' : verdict
    console.log(`${index + 1}/${places.length} ${shown} ${seconds} s  ${describe(place)}`)
  }
  await runner.vitest.close()
  report(tried)
  process.exit(tried.killed.length < places.length ? 1 : 0)
}

function report({ survived, 'timed out': slow, killed }: Record<Verdict, string[]>): void {
  const all = survived.length + slow.length + killed.length
  console.log(
    `\n${all} mutants, ${killed.length} killed, ${survived.length} survived, ${slow.length} timed out`,
  )
  for (const survivor of survived) console.log(survivor)
  if (slow.length > 0) console.log('\nTimed out: endless, or only slow')
  for (const place of slow) console.log(place)
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

interface Stage {
  readonly specifications: readonly TestSpecification[]
  limits: Limits
}

interface Runner {
  readonly vitest: Vitest
  /** Those of a stage run only when those before it have not noticed anything. */
  readonly stages: readonly Stage[]
}

async function startRunner(): Promise<Runner> {
  const options = {
    watch: false,
    bail: 1,
    maxWorkers: 1,
    reporters: [{}],
    silent: true,
    config: resolve(import.meta.dirname, 'mutate/vitest.config.ts'),
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
  const stages: Stage[] = []
  for (const filter of values.tests) {
    const specifications = await vitest.globTestSpecifications(filter.split(','))
    stages.push({ specifications, limits: firstLimits })
  }
  return { vitest, stages }
}

/** Runs the tests as they are: from how long they take follows how long they may. */
async function setLimits({ vitest, stages }: Runner): Promise<void> {
  for (const stage of stages) {
    const startedMs = performance.now()
    const { longestMs, ...run } = await runStage(vitest, stage)
    if (verdictOf(run) !== 'survived')
      throw new Error('The tests fail, or there are none, before anything is changed.')
    stage.limits = limitsAfter({ testMs: longestMs, runMs: performance.now() - startedMs })
  }
}

async function tryText({ vitest, stages }: Runner, file: string, text: string): Promise<Verdict> {
  current = { file, text }
  vitest.invalidateFile(file)
  let verdict: Verdict = 'survived'
  for (const stage of stages) if (verdict === 'survived') verdict = verdictOf(await runStage(vitest, stage))
  current = undefined
  vitest.invalidateFile(file)
  return verdict
}

async function runStage(
  vitest: Vitest,
  { specifications, limits }: Stage,
): Promise<TestRun & { readonly longestMs: number }> {
  for (const { config } of vitest.projects) {
    config.testTimeout = limits.testMs
    config.hookTimeout = limits.testMs
    config.expect.poll = { ...config.expect.poll, timeout: limits.testMs }
  }
  let isEnded = false
  // A worker in an endless loop hears nothing: without it the run ends.
  const timer = setTimeout(() => {
    isEnded = true
    workers.at(-1)?.kill('SIGKILL')
  }, limits.runMs)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([...specifications])
  clearTimeout(timer)
  const tests = testModules.flatMap(({ children }) => [...children.allTests()])
  const suites = testModules.flatMap((module) => [module, ...module.children.allSuites()])
  const failures = [
    ...tests.map((test) => test.result().errors ?? []),
    ...suites.map((suite) => suite.errors()),
  ]
  const isGood = testModules.length > 0 && testModules.every((module) => module.ok())
  const longestMs = Math.max(0, ...tests.map((test) => test.diagnostic()?.duration ?? 0))
  return { isEnded, failures, isBad: !isGood || unhandledErrors.length > 0, longestMs }
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

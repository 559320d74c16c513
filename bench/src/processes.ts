import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/** A Node program on one processor, so that server and load do not take it from each other. */
export function spawnOn(
  cpu: 0 | 1,
  script: URL,
  options: {
    readonly args?: readonly string[]
    readonly env?: Record<string, string>
    readonly nodeArgs?: readonly string[]
  } = {},
): ChildProcess {
  const { args = [], env = {}, nodeArgs = [] } = options
  const command = [process.execPath, ...nodeArgs, fileURLToPath(script), ...args]
  const [file = '', ...rest] = hasTaskset ? ['taskset', '-c', String(cpu), ...command] : command
  return spawn(file, rest, { env: { PATH: process.env.PATH, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
}

/** The first line that a program prints, as JSON; fails when it ends without one. */
export async function firstLine(child: ChildProcess): Promise<Record<string, unknown>> {
  if (!child.stdout) throw new Error('the program has no output')
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the program ended with ${code} before it printed a line`)
  })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  return JSON.parse(line)
}

/** Runs a program to its end and answers the JSON it printed; `input` is what it reads. */
export async function runOn<Result>(cpu: 0 | 1, script: URL, input: unknown): Promise<Result> {
  return await resultOf(spawnOn(cpu, script), input)
}

/** Runs a program on the second processor for as long as something else takes; it ends when it is told to. */
export async function runDuring<Result>(
  script: URL,
  input: unknown,
  work: () => Promise<unknown>,
): Promise<Result> {
  const child = spawnOn(1, script)
  const result = resultOf<Result>(child, input)
  const worked = work().finally(() => child.kill('SIGTERM'))
  await Promise.all([worked, result])
  return await result
}

async function resultOf<Result>(child: ChildProcess, input: unknown): Promise<Result> {
  child.stdin?.end(JSON.stringify(input))
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`)
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Result
}

/** What a program that `runOn` runs was given. */
export async function readInput<Input>(): Promise<Input> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Input
}

/** Resident memory of a process in MB (Linux). */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** Processor time that all threads of a process have used, in milliseconds (Linux). */
export async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program stands in brackets and may have spaces; a tick is 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** The same with the processes that it has started and that still run. */
export async function processorMsWithChildren(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  const times = await Promise.all([pid, ...children.map(Number)].map(processorMs))
  return times.reduce((sum, ms) => sum + ms, 0)
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs a program to its end, with its output on standard error; fails when it does. */
export async function run(program: string, words: readonly string[], cwd?: string): Promise<void> {
  const child = spawn(program, words, { cwd, stdio: ['ignore', process.stderr, 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}`)
}

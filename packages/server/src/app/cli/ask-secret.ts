import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { UsageError } from './command.ts'

/** Asks on the terminal without showing what is typed; without a terminal the first line of standard input answers. */
export async function askSecret(
  question: string,
  input: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<string> {
  const isTerminal = input.isTTY === true
  if (isTerminal) process.stderr.write(question)
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silence, terminal: isTerminal })
  try {
    for await (const line of lines) return line
    throw new UsageError('There was no answer on standard input')
  } finally {
    lines.close()
    if (isTerminal) process.stderr.write('\n')
  }
}

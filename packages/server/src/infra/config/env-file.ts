import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { errorCode } from '#lib/system-error.ts'
import { Problem } from './variable.ts'

/** The variables of an `.env` file; none when there is no such file. */
export function readEnvFile(path: string): Readonly<Record<string, string | undefined>> | Problem {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' ? {} : new Problem(`cannot be read (${code})`)
  }
}

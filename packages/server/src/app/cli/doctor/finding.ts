import { ConfigError } from '#infra/config/index.ts'
import { reportOf } from '../failure-report.ts'

/** What one look at the server has shown. A warning is for attention, a problem keeps something from working. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

export type Verdict = Omit<Finding, 'check'>

export function ok(message: string): Verdict {
  return { status: 'ok', message }
}

export function warning(message: string, advice: string): Verdict {
  return { status: 'warning', message, advice }
}

export function problem(message: string, advice: string): Verdict {
  return { status: 'problem', message, advice }
}

/** Takes a look; what it throws is a problem as well. */
export async function examine(check: string, look: () => Promise<Verdict> | Verdict): Promise<Finding> {
  try {
    return { check, ...(await look()) }
  } catch (error) {
    return { check, status: 'problem', message: sentenceOf(error) }
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return reportOf(error).message
  return error.problems.map(({ variable, message }) => `${variable} ${message}`).join('; ')
}

import { KithError } from '@kith/client'
import type { Table } from '#lib/texts.ts'
import { textsIn } from '#lib/texts.ts'
import { language } from '#platform/language.ts'
import { foreignFault } from '#platform/query.ts'
import { uiTexts } from './ui-texts.ts'

/** The code of a failure; `E-NETWORK` where there was no answer. */
export function codeOf(error: unknown): string {
  return error instanceof KithError ? error.code : 'E-NETWORK'
}

/** The sentence about a failure. */
export function explainIn(t: Table & { other(code: string): string }, error: unknown): string {
  const fault = foreignFault(error)
  const code = fault ? `foreign:${fault}` : codeOf(error)
  // What does not exist and what may not be seen are answered alike.
  const known =
    t[isOfOtherBytes(error) ? 'E-VALIDATION:bytes' : code.endsWith('-NOTFOUND') ? 'E-NOTFOUND' : code]
  return typeof known === 'string' ? known : t.other(code)
}

/** Whether a file was refused because its bytes are no such file as it was said to be. */
function isOfOtherBytes(error: unknown): boolean {
  if (!(error instanceof KithError) || error.code !== 'E-VALIDATION') return false
  const { issues } = error.details ?? {}
  return Array.isArray(issues) && issues.some(({ path }) => path === '/headers/content-type')
}

/** The same outside of components, in the present language. */
export function explainNow(error: unknown): string {
  return explainIn(textsIn(uiTexts, language.get()), error)
}

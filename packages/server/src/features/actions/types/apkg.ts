import { invalid } from '#lib/failure.ts'
import type { TypeHooks } from './type-hooks.ts'

/** App packages are offered on this server alone. */
export const apkg: TypeHooks = {
  type: 'APKG',
  check({ attachments }) {
    if (attachments.length !== 1) throw invalid('/attachments', 'must be the one package')
  },
}

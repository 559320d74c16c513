import { Failure, invalid } from '#lib/failure.ts'
import type { TypeHooks } from './type-hooks.ts'

/** App packages are offered on their issuer's server only; none is accepted from elsewhere. */
export const apkg: TypeHooks = {
  type: 'APKG',
  check({ attachments }) {
    if (attachments.length !== 1) throw invalid('/attachments', 'must be the one package')
  },
  async admit() {
    throw new Failure('E-AUTH-FORBIDDEN')
  },
}

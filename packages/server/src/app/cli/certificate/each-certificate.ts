import { type CertificateState, pageStates } from '#features/certificates/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'

const pageSize = 500

/** How every name stands, in the order of the names. */
export async function* eachCertificate(db: Database): AsyncGenerator<CertificateState> {
  let after: string | undefined
  while (true) {
    const page = await pageStates(db.reader(serverTenant), { after, limit: pageSize })
    yield* page
    after = page.at(-1)?.name
    if (page.length < pageSize) return
  }
}

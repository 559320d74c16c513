import {
  downloadAccountExport,
  getAccountExport,
  type IdTag,
  startAccountExport,
  toIso,
} from '@kith/protocol'
import { type ByteReply, bind, type Endpoint } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { exportView } from './account-export.ts'
import type { AccountExports } from './account-exports.ts'
import { getTicket, type RunDeps } from './export-run.ts'
import { findExport } from './export-store.ts'
import { startExport } from './start-export.ts'

interface ExportEndpointsDeps extends RunDeps {
  readonly exports: AccountExports
}

export function exportEndpoints(deps: ExportEndpointsDeps): Endpoint[] {
  return [
    bind(getAccountExport, async ({ tenant }) =>
      exportView(await findExport(deps.db.reader(tenant.tenantId)), nowSecs(deps.clock)),
    ),
    bind(startAccountExport, ({ tenant, caller }) => startExport(deps, { tenant, caller })),
    bind(downloadAccountExport, async ({ tenant, query: { ticket }, ip, signal }): Promise<ByteReply> => {
      await getTicket(deps, deps.db.reader(tenant.tenantId), ticket)
      const headers = headersOf(tenant.idTag, nowSecs(deps.clock))
      return { status: 200, headers, body: () => deps.exports.open({ tenant, ticket, ip, signal }) }
    }),
  ]
}

const dayLength = '2000-01-01'.length

function headersOf(idTag: IdTag, now: number): Record<string, string> {
  return {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${idTag}-${toIso(now).slice(0, dayLength)}.tar"`,
    'accept-ranges': 'none',
    'cache-control': 'no-store',
    'content-security-policy': "sandbox; default-src 'none'",
    'referrer-policy': 'no-referrer',
  }
}

import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'

type Addressing = Pick<Config, 'publicUrl' | 'baseIdTag'>

/** Without `{idTag}` in `PUBLIC_URL` there is one host, and so one tenant: another could not be reached. */
export function assertCanBeServed({ publicUrl, baseIdTag }: Addressing, idTag: IdTag): void {
  if (publicUrl.servesEveryTenant || idTag === baseIdTag) return
  const message = `This server serves ${baseIdTag} alone: PUBLIC_URL has no {idTag}.`
  throw new Failure('E-STATE', { message })
}

/** Throws a `ConfigError` when there are tenants that `PUBLIC_URL` leaves without an address. */
export async function assertAllServed(config: Addressing, tenants: Pick<Tenants, 'list'>): Promise<void> {
  if (config.publicUrl.servesEveryTenant) return
  const others = (await tenants.list({ limit: 2 })).filter(({ idTag }) => idTag !== config.baseIdTag)
  const [other] = others
  if (!other) return
  const message = `has no {idTag} and so serves ${config.baseIdTag} alone, but ${other.idTag} lives here too`
  throw new ConfigError([{ variable: 'PUBLIC_URL', message }])
}

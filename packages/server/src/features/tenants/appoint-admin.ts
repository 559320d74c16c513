import type { IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteAppointment, insertAppointment } from './tenant-store.ts'

/** Makes an identity an administrator of the server; `tx` is the base tenant's. */
export async function appointAdmin(deps: { readonly clock: Clock }, tx: Writer, idTag: IdTag): Promise<void> {
  await insertAppointment(tx, idTag, nowSecs(deps.clock))
}

/** Takes the appointment back; `tx` is the base tenant's. */
export async function dismissAdmin(tx: Writer, idTag: IdTag): Promise<void> {
  await deleteAppointment(tx, idTag)
}

import type { IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { TenantEvent } from './events.ts'
import { deleteAppointment, insertAppointment } from './tenant-store.ts'

interface TenantEmitter {
  readonly emit: Emit<TenantEvent>
}

/** Makes an identity an administrator of the server; `tx` is the base tenant's. */
export async function appointAdmin(
  { clock, emit }: TenantEmitter & { readonly clock: Clock },
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  await insertAppointment(tx, idTag, nowSecs(clock))
  await emit(tx, { kind: 'admin.changed', idTag })
}

/** Takes the appointment back; `tx` is the base tenant's. */
export async function dismissAdmin({ emit }: TenantEmitter, tx: Writer, idTag: IdTag): Promise<void> {
  await deleteAppointment(tx, idTag)
  await emit(tx, { kind: 'admin.changed', idTag })
}

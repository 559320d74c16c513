import type { ByAdmin } from '#features/admin/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type CommandInput, readIdTag, textOption } from '../command.ts'
import { getHosted, getListed, type Program } from '../open-program.ts'
import { getOperator } from '../operator.ts'

export const tenantOption = {
  tenant: {
    type: 'string',
    value: 'T',
    meaning: 'The value of this tenant; that of all tenants when absent.',
  },
} as const

export type SettingPlace = ByAdmin & { readonly level: 'tenant' | 'global' }

/** Where the command sets a value: for a tenant, or for all that have none of their own. */
export function findPlace(program: Program, input: CommandInput): Promise<SettingPlace> {
  return placeOf(program, input, getHosted)
}

/** Where the command reads one. */
export function findPlaceToRead(program: Program, input: CommandInput): Promise<SettingPlace> {
  return placeOf(program, input, getListed)
}

async function placeOf(program: Program, input: CommandInput, get: typeof getHosted): Promise<SettingPlace> {
  const operator = await getOperator(program)
  const named = textOption(input, 'tenant')
  if (named === undefined) return { ...operator, level: 'global' }
  const tenant: HostedTenant = await get(program, readIdTag(named))
  return { ...operator, tenant, level: 'tenant' }
}

/** Where it holds, as commands print it in JSON. */
export function placeView({ level, tenant }: SettingPlace) {
  return level === 'global' ? {} : { tenant: tenant.idTag }
}

/** Where it holds, in words. */
export function placeText({ level, tenant }: SettingPlace): string {
  return level === 'global' ? 'for all tenants' : `for ${tenant.idTag}`
}

/** A value in one line: text as it is, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' && value !== '' && !/[\p{C}]/u.test(value) ? value : JSON.stringify(value)
}

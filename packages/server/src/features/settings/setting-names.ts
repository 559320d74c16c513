import { type SettingDefinition, type SettingName, settingDefinitions } from '@kith/protocol'

export const settingNames = Object.keys(settingDefinitions) as SettingName[]

export function findDefinition(name: string): SettingDefinition | undefined {
  return Object.hasOwn(settingDefinitions, name) ? settingDefinitions[name as SettingName] : undefined
}

export { type SettingName, type SettingValue, settingDefinitions } from './definitions.ts'
export type { SettingDefinition, SettingType } from './setting-definition.ts'

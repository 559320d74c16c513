import { expect, expectTypeOf, test } from 'vitest'
import { type SettingValue, settingDefinitions } from './definitions.ts'
import { define } from './setting-definition.ts'

test('definitions are JSON', () => {
  expect(JSON.parse(JSON.stringify(settingDefinitions))).toStrictEqual(settingDefinitions)
})

test('the types of values follow from what a setting takes', () => {
  expectTypeOf<SettingValue<'darkMode'>>().toEqualTypeOf<boolean>()
  expectTypeOf<SettingValue<'fontSize'>>().toEqualTypeOf<number | string>()
  expectTypeOf<SettingValue<'profile.default_visibility'>>().toEqualTypeOf<'P' | 'V' | 'F' | 'C'>()
  expectTypeOf<SettingValue<'dns.caa'>>().toEqualTypeOf<readonly string[]>()
  // @ts-expect-error: a default of another type
  define({ scope: 'tenant', permission: 'user', type: { type: 'boolean' }, default: 'on', sentence: '' })
})

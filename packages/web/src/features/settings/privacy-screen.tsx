import { visibilityCodes } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { Choice } from '#ui/choice.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Switch } from '#ui/switch.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { HiddenPeople } from './hidden-people.tsx'
import { privacyTexts } from './privacy-texts.ts'
import { Section } from './section.tsx'
import { settingsQuery, type Values } from './settings-query.ts'
import { settingsTexts } from './settings-texts.ts'
import { useChange } from './use-change.ts'

/** Who sees what one writes, who may write to one, and who is blocked or muted. */
export function PrivacyScreen() {
  const titles = useTexts(settingsTexts)
  const query = useQuery(settingsQuery)
  const { data } = query
  return (
    <Section title={titles.privacy}>
      <QueryState query={query} heights={[280, 160]} />
      {data && <Rules values={data} />}
      <HiddenPeople />
    </Section>
  )
}

const switches = [
  ['messages', 'privacy.open_messages'],
  ['wall', 'privacy.open_wall'],
  ['receipts', 'privacy.read_receipts'],
] as const

function Rules({ values }: { readonly values: Values }) {
  const t = useTexts(privacyTexts)
  const change = useChange()
  const audience = visibilityCodes.find((code) => code === values['profile.default_visibility'])
  return (
    <>
      <div class="card">
        <Choice
          label={t.audience}
          options={visibilityCodes.map((value) => ({ value, label: t[value], hint: t[`${value}Why`] }))}
          value={audience ?? 'P'}
          onChange={(code) => change({ 'profile.default_visibility': code })}
        />
        <p class="soft">{t.audienceWhy}</p>
      </div>
      <div class="card stack">
        {switches.map(([name, setting]) => (
          <Switch
            key={name}
            label={t[name]}
            hint={t[`${name}Why`]}
            isOn={values[setting] === true}
            onChange={(isOn) => change({ [setting]: isOn })}
          />
        ))}
      </div>
    </>
  )
}

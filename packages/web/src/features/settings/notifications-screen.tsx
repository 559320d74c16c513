import { useQuery } from '@tanstack/preact-query'
import { QueryState } from '#ui/query-state.tsx'
import { Switch } from '#ui/switch.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { privacyTexts } from './privacy-texts.ts'
import { PushDevice } from './push-device.tsx'
import { Section } from './section.tsx'
import { settingsQuery } from './settings-query.ts'
import { settingsTexts } from './settings-texts.ts'
import { useChange } from './use-change.ts'

const kinds = [
  'notify.push.message',
  'notify.push.mention',
  'notify.push.comment',
  'notify.push.reaction',
  'notify.push.connection',
  'notify.push.follow',
  'notify.push.file_share',
] as const
const showText = 'notify.push.show_text'

/** Whether this device is sent push notifications, and what they are about. */
export function NotificationsScreen() {
  const titles = useTexts(settingsTexts)
  const t = useTexts(privacyTexts)
  const query = useQuery(settingsQuery)
  const { data } = query
  const change = useChange()
  return (
    <Section title={titles.notifications}>
      <PushDevice />
      <QueryState query={query} heights={[400]} />
      {data && (
        <section class="card stack" aria-labelledby="push">
          <h2 id="push">{t.push}</h2>
          <p class="soft">{t.pushWhy}</p>
          <div>
            {kinds.map((kind) => (
              <Switch
                key={kind}
                label={t[kind]}
                isOn={data[kind] === true}
                onChange={(isOn) => change({ [kind]: isOn })}
              />
            ))}
          </div>
          <Switch
            label={t[showText]}
            hint={t.showTextWhy}
            isOn={data[showText] !== false}
            onChange={(isOn) => change({ [showText]: isOn })}
          />
        </section>
      )}
    </Section>
  )
}

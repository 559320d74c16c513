import { getMe } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { session, signOut } from '#platform/session.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { useExplain } from '#ui/problem.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import styles from './section.module.css'
import { sections } from './sections.ts'
import { settingsTexts } from './settings-texts.ts'

/** One's own profile, the sections of the settings, and the way out. */
export function OverviewScreen() {
  const t = useTexts(settingsTexts)
  const explain = useExplain()
  return (
    <div class="stack">
      <ScreenTitle>{t.title}</ScreenTitle>
      <Me />
      <nav class="card" style={{ padding: 0 }} aria-label={t.title}>
        <ul class={styles.links}>
          {sections.map(({ path, icon, name }) => (
            <li key={path}>
              <Link href={path}>
                <Icon name={icon} />
                <span>
                  <strong>{t[name]}</strong>
                  <span class="soft">{t[`${name}Why`]}</span>
                </span>
                <Icon name="chevron-right" />
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="row">
        <ButtonLink href="/welcome" icon="list">
          {t.firstSteps}
        </ButtonLink>
        <Button
          needsServer
          icon="log-out"
          onClick={() => void signOut().catch((error) => notify(explain(error), { kind: 'failed' }))}
        >
          {t.signOut}
        </Button>
      </div>
      <Server />
    </div>
  )
}

function Me() {
  const t = useTexts(settingsTexts)
  const present = useStore(session)
  if (!('login' in present)) return null
  const { idTag, name, profilePic } = present.login
  return (
    <Link class={`card ${styles.me}`} href={`/profiles/${encodeURIComponent(idTag)}`}>
      <Avatar idTag={idTag} name={name || idTag} hasPicture={profilePic !== undefined} size={64} />
      <div>
        <strong dir="auto">{name || idTag}</strong>
        <div class="soft">{idTag}</div>
        <div>{t.profile}</div>
      </div>
    </Link>
  )
}

function Server() {
  const t = useTexts(settingsTexts)
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await client.call(getMe, {}, { signal })).data,
  })
  return (
    <p class="soft">
      {t.server(location.host, data?.serverInfo.version ?? '')} · <a href="/api/docs">{t.apiDocs}</a> ·{' '}
      <a href="/apps">{t.apps}</a>
    </p>
  )
}

import { type ApiKeyView, deleteApiKey } from '@kith/protocol'
import { useMutation, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { formatAge } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { Confirm } from './confirm.tsx'
import { keysQuery } from './keys-query.ts'
import { keysTexts } from './keys-texts.ts'
import { NewKey } from './new-key.tsx'
import styles from './section.module.css'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'

/** Keys with which programs use the account. */
export function KeysScreen() {
  const titles = useTexts(settingsTexts)
  const t = useTexts(keysTexts)
  const query = useQuery(keysQuery)
  const { data } = query
  return (
    <Section title={titles.keys}>
      <section class="card stack" aria-labelledby="keys">
        <h2 id="keys" tabIndex={-1}>
          {t.present}
        </h2>
        <QueryState query={query} heights={[64]} />
        {data?.length === 0 && <p class="soft">{t.none}</p>}
        {data && data.length > 0 && (
          <ul class={styles.lines}>
            {data.map((key) => (
              <KeyLine key={key.keyId} apiKey={key} />
            ))}
          </ul>
        )}
      </section>
      <NewKey />
    </Section>
  )
}

function KeyLine({ apiKey }: { readonly apiKey: ApiKeyView }) {
  const { keyId, name, prefix } = apiKey
  const t = useTexts(keysTexts)
  const about = useAbout(apiKey)
  const explain = useExplain()
  const [isAsking, setAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => client.call(deleteApiKey, { params: { keyId } }),
    onSuccess: () => {
      document.getElementById('keys')?.focus()
      notify(t.removed)
      return queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    },
    onError: (error) => notify(explain(error), { kind: 'failed' }),
  })
  return (
    <li>
      <div>
        <bdi>{name}</bdi> <code class="soft">{prefix}…</code>
        <p class="soft">{about}</p>
      </div>
      <Button
        icon="trash-2"
        isBusy={remove.isPending}
        aria-label={t.removeOf(name)}
        onClick={() => setAsking(true)}
      >
        {t.remove}
      </Button>
      {isAsking && (
        <Confirm
          title={t.removeTitle}
          step={t.remove}
          onNo={() => setAsking(false)}
          onYes={() => {
            setAsking(false)
            remove.mutate()
          }}
        >
          {t.removeWhy(name)}
        </Confirm>
      )}
    </li>
  )
}

function useAbout({ scope, createdAt, lastUsedAt, expiresAt }: ApiKeyView): string {
  const t = useTexts(keysTexts)
  const locale = useLocale()
  const told = (iso: string) => formatAge(new Date(iso), new Date(), locale)
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const access = scope === undefined ? t.full : scope === 'read' || scope === 'write' ? t[scope] : scope
  const parts = [
    access,
    t.made(told(createdAt)),
    lastUsedAt ? t.used(told(lastUsedAt)) : t.unused,
    ...(expiresAt ? [t.ends(day.format(new Date(expiresAt)))] : []),
  ]
  return parts.join(' · ')
}

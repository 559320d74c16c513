import { listSessions, revokeSession, type SessionView } from '@kith/protocol'
import { queryOptions, useMutation, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { deviceOf } from '#lib/device-name.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { codeOf } from '#ui/explain.ts'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Time } from '#ui/time.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { Confirm } from './confirm.tsx'
import styles from './section.module.css'
import { Section } from './section.tsx'
import { sessionsTexts } from './sessions-texts.ts'
import { settingsTexts } from './settings-texts.ts'

const sessionsQuery = queryOptions({
  queryKey: ['settings', 'sessions'],
  queryFn: async ({ signal }) => {
    const { data } = await client.call(listSessions, {}, { signal })
    return [...data].sort((a, b) => Number(b.current) - Number(a.current))
  },
  // Other devices sign in and out.
  staleTime: 0,
})

/** Where one is signed in, and how another device is added. */
export function SessionsScreen() {
  const titles = useTexts(settingsTexts)
  const t = useTexts(sessionsTexts)
  const query = useQuery(sessionsQuery)
  const { data } = query
  const others = data?.filter(({ current }) => !current) ?? []
  return (
    <Section title={titles.sessions}>
      <section class="card stack" aria-labelledby="sessions">
        <h2 id="sessions" tabIndex={-1}>
          {t.signedIn}
        </h2>
        <QueryState query={query} heights={[72, 72]} />
        <ul class={styles.lines}>
          {data?.map((session) => (
            <SessionLine key={session.sid} session={session} />
          ))}
        </ul>
        {data && others.length === 0 && <p class="soft">{t.onlyThis}</p>}
        {others.length > 0 && <EndOthers others={others} />}
      </section>
      <section class="card stack" aria-labelledby="add-device">
        <h2 id="add-device">{t.add}</h2>
        <p class="soft">{t.addWhy}</p>
        <div>
          <ButtonLink href="/approve" icon="qr-code" isPage>
            {t.approve}
          </ButtonLink>
        </div>
      </section>
    </Section>
  )
}

function useEnding(done: string) {
  const explain = useExplain()
  return useMutation({
    mutationFn: async (ended: readonly SessionView[]) => {
      for (const { sid } of ended) await endSession(sid)
    },
    onSuccess: () => {
      document.getElementById('sessions')?.focus()
      notify(done)
    },
    onError: (error) => notify(explain(error), { kind: 'failed' }),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
}

async function endSession(sid: string): Promise<void> {
  try {
    await client.call(revokeSession, { params: { sid } })
  } catch (error) {
    // It has ended since the list was loaded.
    if (codeOf(error) !== 'E-NOTFOUND') throw error
  }
}

function SessionLine({ session }: { readonly session: SessionView }) {
  const t = useTexts(sessionsTexts)
  const end = useEnding(t.ended)
  const { current, method, ipAddress, userAgent, lastUsedAt } = session
  const { program, system } = userAgent === null ? { program: t.unknown } : deviceOf(userAgent)
  const device = system === undefined ? program : t.on(program, system)
  const way = method === 'password' || method === 'passkey' || method === 'qr' ? t[method] : method
  return (
    <li>
      <div>
        <bdi>{device}</bdi> {current && <span class={styles.here}>{t.thisDevice}</span>}
        <p class="soft">
          {t.used} <Time iso={lastUsedAt} />
          <br />
          {t.from(ipAddress, way)}
        </p>
      </div>
      {!current && (
        <Button isBusy={end.isPending} aria-label={t.endOf(device)} onClick={() => end.mutate([session])}>
          {t.end}
        </Button>
      )}
    </li>
  )
}

function EndOthers({ others }: { readonly others: readonly SessionView[] }) {
  const t = useTexts(sessionsTexts)
  const [isAsking, setAsking] = useState(false)
  const end = useEnding(t.endedOthers)
  return (
    <div>
      <Button kind="danger" icon="log-out" isBusy={end.isPending} onClick={() => setAsking(true)}>
        {t.endOthers}
      </Button>
      {isAsking && (
        <Confirm
          title={t.endOthersTitle}
          step={t.endOthers}
          onNo={() => setAsking(false)}
          onYes={() => {
            setAsking(false)
            end.mutate(others)
          }}
        >
          {t.endOthersWhy}
        </Confirm>
      )}
    </div>
  )
}

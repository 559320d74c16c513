import { createReference, deleteReference, listReferences, type ReferenceView } from '@kith/protocol'
import { queryOptions, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useSubmit } from '#features/settings/screens.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Choice } from '#ui/choice.tsx'
import { Problem, useExplain } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { LinkTools } from './link-tools.tsx'
import styles from './welcome.module.css'
import { welcomeTexts } from './welcome-texts.ts'

const daySecs = 86_400
const goodForDays = 30
const counts = { one: 1, ten: 10 } as const

const invitations = queryOptions({
  queryKey: ['welcome', 'invitations'],
  queryFn: async ({ signal }) => {
    const query = { type: 'invite', filter: 'active' } as const
    const { data } = await client.call(listReferences, { query }, { signal })
    // One with a resource is for founding a community.
    return data.filter(({ resourceId }) => resourceId === undefined)
  },
})

/** Invitations to make an account on this server: those there are, and new ones. */
export function Invitations({ onUsed }: { readonly onUsed: () => void }) {
  const t = useTexts(welcomeTexts)
  const { data, error, refetch } = useQuery(invitations)
  const [number, setNumber] = useState<keyof typeof counts>('one')
  const { problem, isBusy, onSubmit } = useSubmit(async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + goodForDays * daySecs
    await client.call(createReference, { body: { type: 'invite', count: counts[number], expiresAt } })
    await queries.invalidateQueries({ queryKey: invitations.queryKey })
    onUsed()
  })
  return (
    <div class="stack">
      <h3>{t.accounts}</h3>
      <p>{t.accountsWhy}</p>
      <form class="stack" onSubmit={onSubmit}>
        <Choice
          label={t.inviteFor}
          isInRow
          options={[
            { value: 'one', label: t.one },
            { value: 'ten', label: t.ten },
          ]}
          value={number}
          onChange={setNumber}
        />
        <div>
          <Button kind="primary" icon="user-plus" type="submit" isBusy={isBusy}>
            {t.makeInvitation}
          </Button>
        </div>
        <p role="alert">{problem}</p>
      </form>
      {error && <Problem error={error} onAgain={() => void refetch()} />}
      <ul class={styles.invitations}>
        {data?.map((invitation) => (
          <Invitation key={invitation.refId} invitation={invitation} onUsed={onUsed} />
        ))}
      </ul>
    </div>
  )
}

interface InvitationProps {
  readonly invitation: ReferenceView
  readonly onUsed: () => void
}

function Invitation({ invitation: { refId, count, expiresAt }, onUsed }: InvitationProps) {
  const t = useTexts(welcomeTexts)
  const explain = useExplain()
  const day = new Intl.DateTimeFormat(useLocale(), { dateStyle: 'medium' })
  const until = expiresAt === undefined ? [] : [t.until(day.format(new Date(expiresAt * 1000)))]
  const about = [t.uses(count), ...until].join(', ')
  const url = `${location.origin}/register#token=${refId}`
  const revoke = async () => {
    try {
      await client.call(deleteReference, { params: { refId } })
      notify(t.revoked)
    } catch (error) {
      notify(explain(error), { kind: 'failed' })
    }
    await queries.invalidateQueries({ queryKey: invitations.queryKey })
  }
  return (
    <li class="stack">
      <div class="row">
        <strong class={styles.about}>{about}</strong>
        <Button kind="quiet" icon="trash-2" aria-label={t.revokeOf(about)} onClick={() => void revoke()}>
          {t.revoke}
        </Button>
      </div>
      <LinkTools url={url} label={about} mail={t.mailInvitation(url)} onUsed={onUsed} />
    </li>
  )
}

import { createAction, parseIdTag } from '@kith/protocol'
import { useInfiniteQuery, useMutation } from '@tanstack/preact-query'
import { useId, useState } from 'preact/hooks'
import { profileList } from '#features/people/screens.ts'
import { shownIdTag } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { useExplain } from '#ui/problem.tsx'
import { TextArea } from '#ui/text-area.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesTexts } from './communities-texts.ts'
import { JoinLinks } from './join-links.tsx'

// As an INVT takes it.
const longestMessage = 500

// Those whom one knows are offered while one types.
const ofConnections = profileList({ type: 'person', connected: 'connected' })

/** Invites into a community: one person, or by a link that is passed on. */
export function Invite({ idTag }: { readonly idTag: string }) {
  const t = useTexts(communitiesTexts)
  return (
    <>
      <section class="card stack">
        <h2>{t.invitePerson}</h2>
        <InvitePerson idTag={idTag} />
      </section>
      <JoinLinks idTag={idTag} />
    </>
  )
}

function InvitePerson({ idTag }: { readonly idTag: string }) {
  const t = useTexts(communitiesTexts)
  const [problem, setProblem] = useState<string>()
  const send = useSend(idTag)
  const listId = useId()
  const known = useInfiniteQuery(ofConnections)
  const people = known.data?.pages.flatMap(({ profiles }) => profiles) ?? []
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const given = new FormData(form)
    const person = parseIdTag(
      String(given.get('identity') ?? '')
        .trim()
        .replace(/^@/, ''),
    )
    setProblem(person ? undefined : t.identityWrong)
    if (!person) return
    const message = String(given.get('message') ?? '').trim()
    send.mutate({ person, message, key: crypto.randomUUID() }, { onSuccess: () => form.reset() })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Field
        label={t.identity}
        hint={t.identityHint}
        name="identity"
        problem={problem}
        list={listId}
        autocapitalize="none"
        autocomplete="off"
        spellcheck={false}
      />
      <datalist id={listId}>
        {people.map(({ idTag, name }) => (
          <option key={idTag} value={idTag} label={name} />
        ))}
      </datalist>
      <TextArea label={t.inviteMessage} name="message" maxLength={longestMessage} dir="auto" />
      <div>
        <Button kind="primary" type="submit" icon="send" isBusy={send.isPending}>
          {t.sendInvite}
        </Button>
      </div>
    </form>
  )
}

function useSend(subject: string) {
  const t = useTexts(communitiesTexts)
  const explain = useExplain()
  return useMutation({
    mutationFn: ({ person, message, key }: { person: string; message: string; key: string }) =>
      client.call(createAction, {
        body: {
          type: 'INVT',
          audienceTag: person,
          subject,
          content: message === '' ? {} : { message },
          idempotencyKey: key,
        },
      }),
    onSuccess: (_, { person }) => notify(t.inviteSent(shownIdTag(person))),
    onError: (error) => notify(`${t.inviteFailed} ${explain(error)}`, { kind: 'failed' }),
  })
}

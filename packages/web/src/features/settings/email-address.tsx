import { type AccountEmail, changeEmail, getEmail } from '@kith/protocol'
import { queryOptions, useQuery } from '@tanstack/preact-query'
import { formatMoment } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { language } from '#platform/language.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { useProof } from './proof.tsx'
import { securityTexts } from './security-texts.ts'
import { useSubmit } from './use-submit.ts'

const emailQuery = queryOptions({
  queryKey: ['settings', 'email'],
  queryFn: async ({ signal }) => (await client.call(getEmail, {}, { signal })).data,
  // It is confirmed elsewhere.
  staleTime: 0,
})

/** The address to which mails about the account go. */
export function EmailAddress() {
  const t = useTexts(securityTexts)
  const query = useQuery(emailQuery)
  const { data } = query
  return (
    <section class="card stack" aria-labelledby="email">
      <h2 id="email">{t.email}</h2>
      <QueryState query={query} heights={[24]} />
      {data && <Present email={data} />}
      <EmailForm />
    </section>
  )
}

function Present({ email: { address, verified, pending } }: { readonly email: AccountEmail }) {
  const t = useTexts(securityTexts)
  const locale = useLocale()
  const until = pending && formatMoment(new Date(pending.expiresAt * 1000), locale)
  return (
    <>
      {address === null ? <p>{t.emailNone}</p> : <p>{verified ? address : t.emailUnproven(address)}</p>}
      {pending && until && <p class="soft">{t.emailPending(pending.address, until)}</p>}
    </>
  )
}

function EmailForm() {
  const t = useTexts(securityTexts)
  const { run, dialog } = useProof()
  const { problem, isBusy, onSubmit } = useSubmit((form, field) =>
    run(async () => {
      const body = { email: field('email').trim(), lang: language.get() }
      const { data } = await client.call(changeEmail, { body })
      queries.setQueryData(emailQuery.queryKey, data)
      form.reset()
      notify(data.pending ? t.emailSent(data.pending.address) : t.emailKept)
    }),
  )
  return (
    <>
      <form class="stack" onSubmit={onSubmit}>
        <Field
          label={t.emailNew}
          problem={problem}
          name="email"
          type="email"
          autocomplete="email"
          maxLength={254}
          required
        />
        <div>
          <Button type="submit" isBusy={isBusy}>
            {t.emailAsk}
          </Button>
        </div>
      </form>
      {dialog}
    </>
  )
}

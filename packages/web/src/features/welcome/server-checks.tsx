import { type ServerChecks as Checks, putSetting } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { formatAge } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem, useExplain } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { CheckLine, Commands } from './check-line.tsx'
import { checksTexts } from './checks-texts.ts'
import { MailCheck } from './mail-check.tsx'
import { lookAgain, useChecks } from './server-checks-query.ts'
import styles from './welcome.module.css'

/** For the administrator: what should be well before others rely on the server, each with its proof and its mending. */
export function ServerChecks() {
  const t = useTexts(checksTexts)
  const { data, error, isPending, isFetching, refetch } = useChecks(true)
  return (
    <section class="card stack" aria-labelledby="server-checks">
      <h2 id="server-checks">{t.title}</h2>
      <p class="soft">{t.why}</p>
      {isPending && <Loading heights={[72, 72, 72, 72]} />}
      {error && <Problem error={error} onAgain={() => void refetch()} />}
      {data && (
        <>
          <ul class={styles.checks}>
            <AddressCheck address={data.address} />
            <MailCheck isSent={data.mail.isSent} />
            <BackupCheck lastAt={data.backup.lastAt} />
            <RegistrationCheck registration={data.registration} />
          </ul>
          <div>
            <Button icon="refresh-cw" isBusy={isFetching} onClick={() => void refetch()}>
              {t.again}
            </Button>
          </div>
        </>
      )}
    </section>
  )
}

function AddressCheck({ address: { url, status, message, advice } }: Pick<Checks, 'address'>) {
  const t = useTexts(checksTexts)
  if (new URL(url).hostname.endsWith('.localhost'))
    return (
      <CheckLine
        state="unknown"
        title={t.address}
        mend={
          <>
            <p>{t.addressLocalMend}</p>
            <Commands lines={['kith doctor']} />
          </>
        }
      >
        <p>{t.addressLocal(url)}</p>
      </CheckLine>
    )
  const isOk = status === 'ok'
  const mend = (
    <>
      <p lang="en">{message}</p>
      {advice && <p lang="en">{advice}</p>}
      <Commands lines={['kith doctor']} />
    </>
  )
  return (
    <CheckLine state={status} title={t.address} mend={isOk ? undefined : mend}>
      <p>{isOk ? t.addressOk(url) : t.addressWrong(url)}</p>
    </CheckLine>
  )
}

const weekMs = 7 * 86_400_000

function BackupCheck({ lastAt }: { readonly lastAt: string | undefined }) {
  const t = useTexts(checksTexts)
  const locale = useLocale()
  const mend = (
    <>
      <p>{t.backupMend}</p>
      <Commands lines={['kith backup --to /var/backups/kith']} />
    </>
  )
  if (lastAt === undefined)
    return (
      <CheckLine state="warning" title={t.backup} mend={mend}>
        <p>{t.backupNone}</p>
      </CheckLine>
    )
  const [at, now] = [new Date(lastAt), new Date()]
  const isOld = now.getTime() - at.getTime() > weekMs
  const when = formatAge(at, now, locale)
  return (
    <CheckLine state={isOld ? 'warning' : 'ok'} title={t.backup} mend={isOld ? mend : undefined}>
      <p>{isOld ? t.backupOld(when) : t.backupAt(when)}</p>
    </CheckLine>
  )
}

function RegistrationCheck({ registration }: Pick<Checks, 'registration'>) {
  const t = useTexts(checksTexts)
  const explain = useExplain()
  const change = useMutation({
    mutationFn: async (value: 'open' | 'invite') => {
      const params = { name: 'server.registration' }
      await client.call(putSetting, { params, query: { scope: 'global' }, body: { value } })
      await lookAgain()
    },
    onSuccess: () => notify(t.changed),
    onError: (error) => notify(explain(error), { kind: 'failed' }),
  })
  if (registration === 'closed')
    return (
      <CheckLine state="unknown" title={t.registration} mend={<p>{t.closedMend}</p>}>
        <p>{t.closed}</p>
      </CheckLine>
    )
  const isOpen = registration === 'open'
  return (
    <CheckLine state={isOpen ? 'warning' : 'ok'} title={t.registration}>
      <p>{t[registration]}</p>
      <div>
        <Button isBusy={change.isPending} onClick={() => change.mutate(isOpen ? 'invite' : 'open')}>
          {isOpen ? t.letOnlyInvited : t.letEverybody}
        </Button>
      </div>
    </CheckLine>
  )
}

import { KithError } from '@kith/client'
import { getProfile, type Profile } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { Button } from '#ui/button.tsx'
import { Problem } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'

interface LookUpProps {
  readonly idTag: string
  readonly onFound: (person: Pick<Profile, 'idTag' | 'name'>) => void
}

/** Asks the server of an identity who that is, and says that it waits. */
export function LookUp({ idTag, onFound }: LookUpProps) {
  const t = useTexts(messagesTexts)
  const asking = useMutation({
    mutationFn: async () => (await client.call(getProfile, { params: { idTag } })).data,
    onSuccess: onFound,
  })
  const isUnknown =
    asking.error instanceof KithError && ['E-PROFILE-NOTFOUND', 'E-VALIDATION'].includes(asking.error.code)
  return (
    <div class="stack">
      <div>
        <Button icon="search" isBusy={asking.isPending} onClick={() => asking.mutate()}>
          {asking.isPending ? t.lookingUp(idTag) : t.lookUp(idTag)}
        </Button>
      </div>
      {isUnknown && <p role="alert">{t.notFound(idTag)}</p>}
      {asking.error && !isUnknown && <Problem error={asking.error} onAgain={() => asking.mutate()} />}
    </div>
  )
}

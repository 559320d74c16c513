import { type Action, acceptAction, rejectAction } from '@kith/protocol'
import { useMutation, useQuery } from '@tanstack/preact-query'
import { PersonLine, personLine } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { joinRequests } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'

/** Who asks to join, for those who decide. */
export function JoinRequests({ idTag }: { readonly idTag: string }) {
  const t = useTexts(communitiesTexts)
  const requests = useQuery(joinRequests(idTag))
  if (!requests.data) return <QueryState query={requests} heights={[120]} whoMay={t.whoMay} />
  if (requests.data.length === 0)
    return (
      <Empty icon="user-plus" title={t.noRequests}>
        {t.noRequestsWhy}
      </Empty>
    )
  return (
    <ul class={personLine.people} aria-label={t.requests}>
      {requests.data.map((request) => (
        <JoinRequest key={request.actionId} idTag={idTag} request={request} />
      ))}
    </ul>
  )
}

/** A request with its answers. */
export function JoinRequest({ idTag, request }: { readonly idTag: string; readonly request: Action }) {
  const t = useTexts(communitiesTexts)
  const { issuer, content } = request
  const name = shownName(issuer.name, issuer.idTag)
  const answer = useAnswerRequest(idTag, request, name)
  const message = typeof content?.message === 'string' ? content.message : undefined
  return (
    <PersonLine person={issuer} note={message}>
      <Button
        kind="primary"
        icon="check"
        aria-label={t.acceptPerson(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate('accept')}
      >
        {t.accept}
      </Button>
      <Button
        aria-label={t.refusePerson(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate('reject')}
      >
        {t.refuse}
      </Button>
    </PersonLine>
  )
}

function useAnswerRequest(idTag: string, { actionId }: Action, name: string) {
  const t = useTexts(communitiesTexts)
  const explain = useExplain()
  const { queryKey } = joinRequests(idTag)
  return useMutation({
    mutationFn: (verdict: 'accept' | 'reject') =>
      client.at(idTag).call(verdict === 'accept' ? acceptAction : rejectAction, { params: { actionId } }),
    onMutate: async () => {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData(queryKey)
      queries.setQueryData(queryKey, (known) => known?.filter((each) => each.actionId !== actionId))
      return { before }
    },
    onError: (error, _, context) => {
      queries.setQueryData(queryKey, context?.before)
      notify(`${t.answerFailed} ${explain(error)}`, { kind: 'failed' })
    },
    onSuccess: (_, verdict) => notify(verdict === 'accept' ? t.accepted(name) : t.refusedPerson(name)),
    onSettled: () => queries.invalidateQueries({ queryKey: [...communitiesKey, idTag] }),
  })
}

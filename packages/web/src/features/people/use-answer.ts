import { type Action, acceptAction, rejectAction } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleKey } from './people-keys.ts'
import { connectionRequests } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'

/** Answers a request for a connection: it leaves the list at once, and comes back when the server refuses. */
export function useAnswer(ownTag: string) {
  const t = useTexts(peopleTexts)
  const explain = useExplain()
  const { queryKey } = connectionRequests(ownTag)
  return useMutation({
    mutationFn: ({ request, verdict }: { request: Action; verdict: 'accept' | 'reject' }) =>
      client.call(verdict === 'accept' ? acceptAction : rejectAction, {
        params: { actionId: request.actionId },
      }),
    onMutate: async ({ request }) => {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData(queryKey)
      queries.setQueryData(queryKey, (known) =>
        known?.filter(({ actionId }) => actionId !== request.actionId),
      )
      return { before }
    },
    onError: (error, _, context) => {
      if (context?.before) queries.setQueryData(queryKey, context.before)
      notify(`${t.answerFailed} ${explain(error)}`, { kind: 'failed' })
    },
    onSuccess: (_, { request, verdict }) => {
      const name = shownName(request.issuer.name, request.issuerTag)
      notify(verdict === 'accept' ? t.accepted(name) : t.refused(name))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: peopleKey }),
  })
}

import { KithError } from '@kith/client'
import { type RequestOf, updateMember } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { communitiesTexts } from './communities-texts.ts'
import { manageTexts } from './manage-texts.ts'

export interface MemberChange {
  readonly body: RequestOf<typeof updateMember>['body']
  /** What is said once it is done. */
  readonly done: string
}

/** Changes what somebody is in a community, at the community's host. */
export function useChangeMember(idTag: string, memberTag: string, name: string) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const explain = useExplain()
  return useMutation({
    mutationFn: ({ body }: MemberChange) =>
      client.at(idTag).call(updateMember, { params: { idTag: memberTag }, body }),
    onError: (error, { body }) => {
      const isState = error instanceof KithError && error.code === 'E-STATE'
      const isLoss = body.role === undefined || body.role === 'public'
      const why = isLoss ? t.lastLeader : manage.roleBound
      notify(`${t.changeFailed(name)} ${isState ? why : explain(error)}`, { kind: 'failed' })
    },
    onSuccess: (_, { done }) => notify(done),
    onSettled: () => queries.invalidateQueries({ queryKey: [...communitiesKey, idTag] }),
  })
}

import { type Action, acceptAction, rejectAction } from '@kith/protocol'
import { useMutation, useQuery } from '@tanstack/preact-query'
import { PersonLine, peopleKey, profileOf } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { invitations } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'

/** An invitation into a community, answered in its place. */
export function InvitationLine({ invitation }: { readonly invitation: Action }) {
  const t = useTexts(communitiesTexts)
  const idTag = invitation.subject ?? ''
  const { data: community } = useQuery(profileOf(idTag))
  const name = shownName(community?.name, idTag)
  const answer = useAnswerInvitation(invitation, name)
  const message = typeof invitation.content?.message === 'string' ? invitation.content.message : ''
  const inviter = shownName(invitation.issuer.name, invitation.issuerTag)
  return (
    <PersonLine
      person={{ ...community, idTag, name: community?.name ?? '' }}
      href={`/communities/${encodeURIComponent(idTag)}`}
      note={`${t.invitedBy(inviter)} ${message}`}
    >
      <Button
        kind="primary"
        icon="check"
        aria-label={t.acceptNamed(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate('accept')}
      >
        {t.accept}
      </Button>
      <Button
        aria-label={t.refuseNamed(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate('reject')}
      >
        {t.refuse}
      </Button>
    </PersonLine>
  )
}

function useAnswerInvitation({ actionId }: Action, name: string) {
  const t = useTexts(communitiesTexts)
  const explain = useExplain()
  const { queryKey } = invitations
  return useMutation({
    mutationFn: (verdict: 'accept' | 'reject') =>
      client.call(verdict === 'accept' ? acceptAction : rejectAction, { params: { actionId } }),
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
    onSuccess: (_, verdict) => notify(verdict === 'accept' ? t.joining(name) : t.refused(name)),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: communitiesKey })
      void queries.invalidateQueries({ queryKey: peopleKey })
    },
  })
}

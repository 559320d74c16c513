import { createAction, type Profile, type RelationshipChange, updateRelationship } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { hearAnew, queries } from '#platform/query.ts'
import { codeOf } from '#ui/explain.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleKey } from './people-keys.ts'
import { profileOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import { afterChange, isAboutHearing, undoOf } from './relationship.ts'

interface Wanted {
  readonly change: RelationshipChange
  /** Said with a request for a connection. */
  readonly message?: string
}

/** Changes what holds with an identity: shown at once, taken back when the server refuses. */
export function useRelationship(idTag: string, name: string) {
  const t = useTexts(peopleTexts)
  const explain = useExplain()
  const { queryKey } = profileOf(idTag)
  const mutation = useMutation({
    mutationFn: (wanted: Wanted) => tell(idTag, wanted),
    onMutate: async ({ change }) => {
      await queries.cancelQueries({ queryKey: peopleKey })
      const before = queries.getQueryData(queryKey)
      if (before) queries.setQueryData(queryKey, { ...before, ...afterChange(before, change) } as Profile)
      return { before }
    },
    onError: (error, { change }, context) => {
      if (context?.before) queries.setQueryData(queryKey, context.before)
      // Of ending a connection only the last leader of a community is told that it cannot be.
      const isLast = change === 'disconnect' && codeOf(error) === 'E-STATE'
      notify(`${t[`failed:${change}`](name)} ${isLast ? t.lastLeader : explain(error)}`, { kind: 'failed' })
    },
    onSuccess: (_, { change }) => {
      const undo = undoOf(change)
      const run = () => undo && mutation.mutate({ change: undo })
      notify(t[`done:${change}`](name), undo ? { action: { label: t.undo, run } } : {})
    },
    onSettled: (_, __, { change }) =>
      isAboutHearing(change) ? hearAnew() : queries.invalidateQueries({ queryKey: peopleKey }),
  })
  return mutation
}

async function tell(idTag: string, { change, message }: Wanted): Promise<void> {
  if (change !== 'connect' || !message) {
    await client.call(updateRelationship, { params: { idTag }, body: { relationship: change } })
    return
  }
  const body = {
    type: 'CONN',
    audienceTag: idTag,
    content: { message },
    idempotencyKey: crypto.randomUUID(),
  } as const
  await client.call(createAction, { body })
}

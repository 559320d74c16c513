import { type Action, listActions } from '@kith/protocol'
import { queryOptions, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { client } from '#platform/client.ts'
import { dropDraft, listDrafts } from './drafts.ts'
import { draftsKey, forgetOnServer } from './save-draft.ts'

// The newest; who has more finds the older ones once these are done with.
const shownAtMost = 200

/** A line of the list. */
export interface ListedDraft {
  readonly id: string | undefined
  readonly actionId: string | undefined
  readonly text: string
  readonly files: number
  readonly at: Date
  readonly isPlanned: boolean
}

/** Where one goes on with it. */
export function draftPath({ id, actionId = '' }: ListedDraft): string {
  return id === undefined ? `/new?action=${encodeURIComponent(actionId)}` : `/new?draft=${id}`
}

/** Drafts and planned posts that the server has. */
export const draftsOfServer = queryOptions({
  queryKey: draftsKey,
  queryFn: async () => {
    const query = { type: ['POST', 'SHRE'] as const, status: ['R', 'S'] as ['R', 'S'], limit: shownAtMost }
    return (await client.call(listActions, { query })).data
  },
  staleTime: 0,
})

/** All drafts and planned posts, of this browser and of the server. */
export function useDrafts() {
  const [own, setOwn] = useState(listDrafts)
  const list = useQuery(draftsOfServer)
  const here = own.filter(({ leavesAt }) => leavesAt === undefined).map(listedOfDraft)
  const known = new Set(own.map(({ actionId }) => actionId))
  const there = (list.data ?? []).filter(({ actionId }) => !known.has(actionId)).map(listedOfAction)
  const all = [...here, ...there].sort((one, other) => other.at.getTime() - one.at.getTime())
  const remove = async ({ id, actionId }: ListedDraft) => {
    if (actionId !== undefined) await forgetOnServer(actionId)
    if (id !== undefined) dropDraft(id)
    setOwn(listDrafts())
    await list.refetch()
  }
  return {
    list,
    remove,
    planned: all.filter(({ isPlanned }) => isPlanned),
    drafts: all.filter(({ isPlanned }) => !isPlanned),
  }
}

function listedOfDraft({ id, actionId, text, files, changedAt }: ReturnType<typeof listDrafts>[number]) {
  return { id, actionId, text, files: files.length, at: new Date(changedAt), isPlanned: false }
}

function listedOfAction({ actionId, content, attachments, createdAt, status, publishAt }: Action) {
  const isPlanned = status === 'S'
  return {
    id: undefined,
    actionId,
    text: typeof content?.text === 'string' ? content.text : '',
    files: attachments?.length ?? 0,
    at: isPlanned && publishAt !== undefined ? new Date(publishAt * 1000) : new Date(createdAt),
    isPlanned,
  }
}

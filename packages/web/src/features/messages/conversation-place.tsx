import { type Conversation, getProfile } from '@kith/protocol'
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { client } from '#platform/client.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Absent } from '#ui/absent.tsx'
import { ScreenState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { conversationIdOf } from './conversation-id.ts'
import { conversationList, conversationsOf } from './conversations-query.ts'
import { peopleNamed } from './group-path.ts'
import { messagesTexts } from './messages-texts.ts'
import { ThreadView } from './thread-view.tsx'

interface ConversationPlaceProps {
  /** The id of a conversation, or the identity with whom it is; several, with commas between, begin one. */
  readonly named: string
}

/** Finds the conversation that an address names. One with an identity may not have begun yet. */
export function ConversationPlace({ named }: ConversationPlaceProps) {
  const t = useTexts(messagesTexts)
  const isIdentity = !named.startsWith('c1~')
  const people = isIdentity ? peopleNamed(named) : []
  const id = useQuery({
    queryKey: ['messages', 'id', named],
    queryFn: () => (isIdentity ? conversationIdOf([ownIdTag(), ...people]) : Promise.resolve(named)),
  }).data
  const { conversation, isSearched, list } = useConversation(id)
  const peers = useQuery({
    queryKey: ['messages', 'peers', named],
    queryFn: () => Promise.all(people.map(findPeer)),
    enabled: isIdentity && isSearched && !conversation,
  })
  if (id !== undefined && conversation) return <ThreadView conversationId={id} conversation={conversation} />
  if (id !== undefined && peers.data)
    return <ThreadView conversationId={id} conversation={{ ...begun(id), participants: peers.data }} />
  if (isSearched && !isIdentity) return <Absent />
  return <ScreenState title={t.messages} query={isSearched ? peers : list} heights={[56, 48, 96, 48]} />
}

async function findPeer(named: string): Promise<Conversation['participants'][number]> {
  const { data } = await client.call(getProfile, { params: { idTag: named } })
  const { idTag, name, profilePic } = data
  return { idTag, name, ...(profilePic === undefined ? {} : { profilePic }) }
}

function begun(conversationId: string): Conversation {
  return { conversationId, participants: [], unread: 0, updatedAt: new Date().toISOString() }
}

/** A conversation of the list, of which further pages are loaded until it is found. */
function useConversation(conversationId: string | undefined) {
  const list = useInfiniteQuery(conversationList)
  const conversation = conversationsOf(list.data).find((one) => one.conversationId === conversationId)
  const { hasNextPage, isFetching, fetchNextPage } = list
  const isWanted = conversationId !== undefined && !conversation && hasNextPage && !isFetching
  useEffect(() => {
    if (isWanted) void fetchNextPage()
  }, [isWanted, fetchNextPage])
  return {
    conversation,
    isSearched: conversationId !== undefined && list.isSuccess && !hasNextPage,
    list,
  }
}

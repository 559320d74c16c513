import type { Profile } from '@kith/protocol'
import type { NewsHandlers } from '#platform/news.ts'
import { queries } from '#platform/query.ts'
import { listsKey, peopleKey, postsKey, profileKey } from './people-keys.ts'

const aboutRelations = new Set(['CONN', 'FLLW', 'FSHR'])

/** What the lists of people and the profiles do with news. */
export const peopleNews: NewsHandlers = {
  ACTION: ({ type, issuerTag }) => {
    const isRelation = aboutRelations.has(type)
    void queries.invalidateQueries({ queryKey: isRelation ? peopleKey : postsKey(issuerTag) })
  },
  ACTION_STATUS: () => void queries.invalidateQueries({ queryKey: peopleKey }),
  PROFILE: ({ idTag, ...changed }) => {
    queries.setQueryData<Profile>(profileKey(idTag), (known) =>
      known ? ({ ...known, ...changed } as Profile) : known,
    )
    void queries.invalidateQueries({ queryKey: listsKey })
  },
}

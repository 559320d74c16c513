import { type Cast, castOf, issued, type MadeToken, type Members, now } from './cast.ts'
import { hashOf, type Signer } from './signing.ts'

const receiver = 'bob.example.org'

interface Outcome {
  readonly tokens: readonly MadeToken[]
  /** The status of each token's action, in the same order; null: it is no action, undefined: nobody asks. */
  readonly statuses: readonly ('A' | 'C' | 'D' | null | undefined)[]
  /** Those of the tokens that are held apart from what they name. */
  readonly mismatched?: readonly MadeToken[]
}

/** `vectors/actions/outcomes.json`. */
export function actionOutcomeVectors(signer: Signer) {
  const outcomes = Object.entries(outcomesOf(castOf(signer)))
  return {
    description: `What becomes of valid tokens at the person ${receiver}, who follows alice.example.com and club.example.org: the status of the action of each, in the same order, after all have been received in any order. A is shown, C awaits an answer, D is kept as deleted; null stands for what is no action; where there is no status none is asked for. What is \`mismatched\` means another token than the one that is held under the id that it names, and is not shown with it.`,
    receiver,
    outcomes: outcomes.map(([name, { tokens, statuses, mismatched = [] }]) => ({
      name,
      tokens: tokens.map((made, at) => ({
        actionId: made.payload.actionId,
        status: statuses[at],
        ...(mismatched.includes(made) ? { mismatched: true } : {}),
        token: made.token,
      })),
    })),
  }
}

function outcomesOf(cast: Cast): Record<string, Outcome> {
  const { alice, club, by } = cast
  const bare = { content: undefined, visibility: undefined }
  const to = (members: Members = {}) => ({ audienceTag: receiver, ...bare, ...members })
  const post = by(alice, 'outcome: a post')
  const direct = by(alice, 'outcome: a direct post', to({ content: { text: 'Psst' } }))
  const deletion = (of: MadeToken, members: Members = {}) =>
    ({ subType: 'DEL', subject: of.payload.actionId, ...bare, ...members }) as const
  const follows = [0, 1].map((at) =>
    by(alice, `outcome: follow ${at}`, to({ type: 'FLLW', ...issued(now + at) })),
  )
  const ties = ['one', 'two'].map((name) => by(alice, `outcome: tie ${name}`, to({ type: 'CONN' })))
  const larger = [...ties].sort((a, b) => (a.payload.actionId < b.payload.actionId ? 1 : -1))[0]
  const reactions = ['LIKE', 'LOVE'].map((subType, at) =>
    by(
      alice,
      `outcome: ${subType}`,
      to({ type: 'REACT', subType, subject: post.payload.actionId, ...issued(now + at) }),
    ),
  )
  const end = by(alice, 'outcome: no follow', to({ type: 'FLLW', subType: 'DEL', ...issued(now + 2) }))
  const endAt = (at: number, members: Members = {}) =>
    by(
      alice,
      `outcome: no follow ${at}`,
      to({ type: 'FLLW', subType: 'DEL', ...issued(now + at), ...members }),
    )
  const unlike = (of: MadeToken | undefined) =>
    by(alice, 'outcome: no reaction', {
      type: 'REACT',
      subType: 'DEL',
      subject: of?.payload.actionId,
      ...bare,
      ...issued(now + 2),
    })
  const [first, second] = follows
  if (!first || !second) throw new Error('there are two')
  return {
    'a post of somebody who is followed': { tokens: [post], statuses: ['A'] },
    'a post for the receiver alone, of somebody who is followed': { tokens: [direct], statuses: ['A'] },
    'a request': { tokens: [by(alice, 'outcome: a request', to({ type: 'CONN' }))], statuses: ['C'] },
    'an invitation': {
      tokens: [by(alice, 'outcome: an invitation', to({ type: 'INVT', subject: club.idTag }))],
      statuses: ['C'],
    },
    'a post and its deletion': {
      tokens: [post, by(alice, 'outcome: deletion', deletion(post))],
      statuses: ['D', null],
    },
    'a post and its deletion by another': {
      tokens: [post, by(club, 'outcome: deletion by another', { ...deletion(post), audienceTag: receiver })],
      statuses: ['A', undefined],
    },
    'two follows: the later stands': { tokens: [first, second], statuses: ['D', 'A'] },
    'a follow and its end, which is later': { tokens: [first, end], statuses: ['D', 'A'] },
    'a follow and its end, of one second: the end stands': {
      tokens: [first, endAt(0)],
      statuses: ['D', 'A'],
    },
    'a follow, its end, and a follow of one second: the end stands': {
      tokens: [first, endAt(0), by(alice, 'outcome: follow again', to({ type: 'FLLW', ...issued(now) }))],
      statuses: ['D', 'A', 'D'],
    },
    'a follow and its deletion, of one second': {
      tokens: [
        first,
        by(
          alice,
          'outcome: follow deleted',
          to({ type: 'FLLW', subType: 'DEL', subject: first.payload.actionId, ...issued(now) }),
        ),
      ],
      statuses: ['D', undefined],
    },
    'two reactions, and the deletion of the later: none stands': {
      tokens: [post, ...reactions, unlike(reactions[1])],
      statuses: ['A', 'D', 'D', null],
    },
    'two requests of one second: the larger id stands': {
      tokens: ties,
      statuses: ties.map((it) => (it === larger ? 'C' : 'D')),
    },
    'two reactions to one action: the later stands': {
      tokens: [post, ...reactions],
      statuses: ['A', 'D', 'A'],
    },
    'an app package': {
      tokens: [
        by(alice, 'outcome: a package', {
          ...to({ type: 'APKG', content: { name: 'Chess', version: '1' } }),
          attachments: [`b1~${'A'.repeat(43)}`],
        }),
      ],
      statuses: ['A'],
    },
    ...endorsements(cast, post),
    'a type that nobody knows': {
      tokens: [by(alice, 'outcome: a poll', to({ type: 'POLL' }))],
      statuses: [null],
    },
  }
}

/** What says something about an action, with the hash of its token and with that of another. */
function endorsements({ alice, by }: Cast, post: MadeToken): Record<string, Outcome> {
  const message = by(alice, 'outcome: a message', {
    type: 'MSG',
    audienceTag: receiver,
    visibility: undefined,
  })
  const hashes = {
    'that means it': hashOf,
    'that means another token of its id': () => hashOf('another token'),
  }
  const about: Record<string, readonly [MadeToken, Members]> = {
    'a repost': [post, { type: 'REPOST', content: undefined }],
    'a share': [post, { type: 'SHRE' }],
    'a reaction': [post, { type: 'REACT', subType: 'LIKE', content: undefined }],
    'a comment': [post, { type: 'CMNT' }],
    'an answer': [message, { type: 'MSG', audienceTag: receiver, visibility: undefined }],
  }
  const made = Object.entries(about).flatMap(([name, [target, members]]) =>
    Object.entries(hashes).map(([meaning, hash]) => {
      const isByParent = members.type === 'CMNT' || members.type === 'MSG'
      const [id, hashName] = isByParent ? ['parentId', 'parentHash'] : ['subject', 'subjectHash']
      const named = { [id]: target.payload.actionId, [hashName]: hash(target.token) }
      const made = by(alice, `outcome: ${name} ${meaning}`, { ...members, ...named })
      const mismatched = hash === hashes['that means it'] ? [] : [made]
      return [`${name} ${meaning}`, { tokens: [target, made], statuses: ['A', 'A'], mismatched }] as const
    }),
  )
  return Object.fromEntries(made)
}

import { expect, test } from 'vitest'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { onSqlite } from '#harness/each-dialect.ts'

const triggers = ['update', 'publish', 'schedule', 'cancel', 'accept', 'reject', 'dismiss', 'remove'] as const
type Trigger = (typeof triggers)[number]

/** What a trigger makes of an action in a status for a caller: the new status, or the refusal. */
type Outcome = 'R' | 'S' | 'A' | 'C' | 'D' | '403' | '404' | '409'
type Row = Readonly<Record<Trigger, Outcome>>

const all = (outcome: Outcome): Row =>
  Object.fromEntries(triggers.map((trigger) => [trigger, outcome])) as Record<Trigger, Outcome>

// SPEC "Action transitions" with DECISIONS part 8. `dismiss` takes marks away and leaves the status as it is.
const expected: Record<string, Record<'owner' | 'stranger' | 'guest', Row>> = {
  R: {
    owner: {
      update: 'R',
      publish: 'A',
      schedule: 'S',
      cancel: '409',
      accept: '409',
      reject: '409',
      dismiss: 'R',
      remove: 'D',
    },
    stranger: all('404'),
    guest: all('404'),
  },
  S: {
    owner: {
      update: '409',
      publish: 'A',
      schedule: 'S',
      cancel: 'R',
      accept: '409',
      reject: '409',
      dismiss: 'S',
      remove: 'D',
    },
    stranger: all('404'),
    guest: all('404'),
  },
  A: {
    owner: {
      update: '409',
      publish: '409',
      schedule: '409',
      cancel: '409',
      accept: '409',
      reject: '409',
      dismiss: 'A',
      remove: 'D',
    },
    stranger: { ...all('403'), dismiss: 'A' },
    guest: { ...all('403'), dismiss: 'A' },
  },
  // A request that another identity sent to the owner.
  C: {
    owner: {
      update: '403',
      publish: '403',
      schedule: '403',
      cancel: '403',
      accept: 'A',
      reject: 'D',
      dismiss: 'C',
      remove: '403',
    },
    stranger: all('404'),
    guest: all('404'),
  },
  D: { owner: all('404'), stranger: all('404'), guest: all('404') },
}

const codes: Readonly<Record<string, Outcome>> = {
  'E-ACTION-NOTFOUND': '404',
  'E-AUTH-FORBIDDEN': '403',
  'E-STATE': '409',
}

onSqlite('every transition', (open) => {
  const openLab = actionLab(open)

  const cases = Object.entries(expected).flatMap(([status, callers]) =>
    Object.entries(callers).map(([caller, row]) => [status, caller, row] as const),
  )

  test.each(cases)('from %s for the %s', async (status, caller, row) => {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    const who =
      { owner: alice, stranger: alice.as(identity('eve.example.org')), guest: alice.as(guest) }[caller] ??
      alice
    const outcomes: Partial<Record<Trigger, Outcome>> = {}
    for (const trigger of triggers) {
      const actionId = await make(status, alice, bob)
      await lab.settle()
      outcomes[trigger] = await pull(trigger, who, actionId, Math.floor(lab.clock.now() / 1000) + 600)
        .then(async () => (await alice.stored(actionId))?.status as Outcome)
        .catch((error: { code: string }) => codes[error.code] ?? (error.code as Outcome))
      // Who ends something has to know of it: what follows from one trigger is not to cross the next beginning.
      await lab.settle()
      lab.tick()
    }
    expect(outcomes).toEqual(row)
  })
})

async function make(status: string, alice: Actor, bob: Actor): Promise<string> {
  const post = { type: 'POST' as const, content: { text: 'a' } }
  switch (status) {
    case 'R':
      return (await alice.create({ ...post, draft: true })).actionId
    case 'S':
      return (await alice.create({ ...post, publishAt: 1_800_000_000 })).actionId
    case 'C':
      await bob.create({ type: 'CONN', audienceTag: alice.idTag, subType: 'DEL' })
      return (await bob.create({ type: 'CONN', audienceTag: alice.idTag })).actionId
    case 'D': {
      const { actionId } = await alice.create(post)
      await alice.remove(actionId)
      return actionId
    }
    default:
      return (await alice.create(post)).actionId
  }
}

function pull(trigger: Trigger, who: Actor, actionId: string, later: number): Promise<unknown> {
  switch (trigger) {
    case 'update':
      return who.update(actionId, { flags: 'x' })
    case 'schedule':
      return who.publish(actionId, later)
    default:
      return who[trigger](actionId)
  }
}

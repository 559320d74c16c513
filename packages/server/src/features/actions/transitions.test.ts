import {
  type ActionId,
  acceptAction,
  type Contract,
  cancelAction,
  deleteAction,
  dismissAction,
  type IdTag,
  publishAction,
  rejectAction,
  setReaction,
  setStat,
  updateAction,
} from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { callEndpoint } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import { authorize } from '#infra/http/authorize.ts'

// docs/protocol/action-life.md, cell by cell: for an action in a status, a caller and a trigger, the status afterwards
// or the code of the refusal. `dismiss` removes marks and keeps the status.
const triggers = 'update publish schedule cancel accept reject dismiss remove react stat'.split(' ')

const persons = `
  a draft            update publish schedule cancel accept reject dismiss remove react stat
    owner            R      A       S        409    409    409    R       D      404   403
    administrator    R      A       S        409    409    409    R       D      404   R
    connection       404    404     404      404    404    404    404     404    404   403
    stranger         404    404     404      404    404    404    404     404    404   403
    guest            401    401     401      401    401    401    401     401    401   401

  a scheduled one    update publish schedule cancel accept reject dismiss remove react stat
    owner            409    A       S        R      409    409    S       D      404   403
    stranger         404    404     404      404    404    404    404     404    404   403
    guest            401    401     401      401    401    401    401     401    401   401

  an active one      update publish schedule cancel accept reject dismiss remove react stat
    owner            409    409     409      409    409    409    A       D      A     403
    administrator    409    409     409      409    409    409    A       D      A     A
    connection       403    403     403      403    403    403    A       403    403   403
    stranger         403    403     403      403    403    403    A       403    403   403
    guest            401    401     401      401    401    401    401     401    401   401

  a received one     update publish schedule cancel accept reject dismiss remove react stat
    owner            403    403     403      403    409    409    A       D      A     403
    issuer           403    403     403      403    403    403    A       403    403   403
    stranger         404    404     404      404    404    404    404     404    404   403

  a new one          update publish schedule cancel accept reject dismiss remove react stat
    owner            403    403     403      403    409    409    A       D      N     403
    issuer           403    403     403      403    403    403    N       403    403   403
    stranger         403    403     403      403    403    403    N       403    403   403

  a request          update publish schedule cancel accept reject dismiss remove react stat
    owner            403    403     403      403    A      D      C       D      C     403
    issuer           403    403     403      403    403    403    C       403    403   403
    stranger         404    404     404      404    404    404    404     404    404   403
    guest            401    401     401      401    401    401    401     401    401   401

  a deleted one      update publish schedule cancel accept reject dismiss remove react stat
    owner            404    404     404      404    404    404    404     404    404   403
    administrator    404    404     404      404    404    404    404     404    404   404
    stranger         404    404     404      404    404    404    404     404    404   403

  an expired one     update publish schedule cancel accept reject dismiss remove react stat
    owner            404    404     404      404    404    404    404     404    404   403
    stranger         404    404     404      404    404    404    404     404    404   403
`

const communities = `
  a draft            update publish schedule cancel accept reject dismiss remove react stat
    author           R      A       S        409    403    403    R       D      404   403
    contributor      404    404     404      404    404    404    404     404    404   403
    moderator        R      A       S        409    409    409    R       D      404   403
    leader           R      A       S        409    409    409    R       D      404   403

  a scheduled one    update publish schedule cancel accept reject dismiss remove react stat
    author           409    A       S        R      403    403    S       D      404   403
    contributor      404    404     404      404    404    404    404     404    404   403
    moderator        409    A       S        R      409    409    S       D      404   403

  an active one      update publish schedule cancel accept reject dismiss remove react stat
    author           409    409     409      409    403    403    A       D      A     403
    contributor      403    403     403      403    403    403    A       403    A     403
    follower         403    403     403      403    403    403    A       403    403   403
    moderator        409    409     409      409    409    409    A       D      A     403
    leader           409    409     409      409    409    409    A       D      A     403

  a received one     update publish schedule cancel accept reject dismiss remove react stat
    issuer           403    403     403      403    403    403    A       403    A     403
    contributor      403    403     403      403    403    403    A       403    A     403
    moderator        403    403     403      403    409    409    A       D      A     403

  a request          update publish schedule cancel accept reject dismiss remove react stat
    issuer           403    403     403      403    403    403    C       403    C     403
    contributor      404    404     404      404    404    404    404     404    404   403
    moderator        403    403     403      403    A      D      C       D      C     403
    leader           403    403     403      403    A      D      C       D      C     403
`

type Cells = Readonly<Record<string, string>>

/** The rows of a table: status, caller, and the outcome of each trigger. */
function rowsOf(table: string): [string, string, Cells][] {
  const rows: [string, string, Cells][] = []
  let status = ''
  for (const line of table.split('\n').filter((line) => line.trim() !== '')) {
    const [, name = '', cells = ''] = /^ {2,4}(\S.*?) {2,}(.*)$/.exec(line) ?? []
    if (!line.startsWith('    ')) status = name
    else
      rows.push([status, name, Object.fromEntries(cells.split(/ +/).map((cell, at) => [triggers[at], cell]))])
  }
  return rows
}

const codes: Readonly<Record<string, string>> = {
  'E-AUTH-UNAUTH': '401',
  'E-AUTH-FORBIDDEN': '403',
  'E-ACTION-NOTFOUND': '404',
  'E-STATE': '409',
}

const bob = 'bob.example.com' as IdTag
const later = 1_800_000_000

function callersOf({ tenant }: Actor): Record<string, Caller> {
  const member = (role: 'follower' | 'contributor' | 'moderator' | 'leader') =>
    identity(`${role}.example.org`, { role })
  return {
    owner: identity(tenant.idTag, { isOwner: true, role: 'leader' }),
    administrator: identity(tenant.idTag, { isOwner: true, role: 'leader', isAdmin: true }),
    author: identity('author.example.org', { role: 'contributor' }),
    issuer: identity(bob, tenant.type === 'community' ? { role: 'contributor' } : {}),
    connection: identity('friend.example.org'),
    stranger: identity('eve.example.org'),
    guest,
    ...Object.fromEntries(
      (['follower', 'contributor', 'moderator', 'leader'] as const).map((role) => [role, member(role)]),
    ),
  }
}

const calls: Readonly<Record<string, readonly [Contract, unknown?]>> = {
  update: [updateAction, { flags: 'x' }],
  publish: [publishAction],
  schedule: [publishAction, { publishAt: later }],
  cancel: [cancelAction],
  accept: [acceptAction],
  reject: [rejectAction],
  dismiss: [dismissAction],
  remove: [deleteAction],
  react: [setReaction, { type: 'LOVE' }],
  stat: [setStat, { views: 3 }],
}

eachDialect('every transition', (open) => {
  const openLab = actionLab(open)
  const cases = [
    ...rowsOf(persons).map((row) => ['a person', ...row] as const),
    ...rowsOf(communities).map((row) => ['a community', ...row] as const),
  ]

  test.each(cases)('at %s: of %s by the %s', async (place, status, name, cells) => {
    const lab = await openLab()
    const home = await lab.makeTenant('home.example.com', place === 'a person' ? 'person' : 'community')
    const other = await lab.makeTenant(bob)
    const caller = callersOf(home)[name] ?? guest
    if (name === 'connection') await connect(lab, home, 'friend.example.org' as IdTag)
    const outcomes: Record<string, string> = {}
    for (const trigger of triggers) {
      const actionId = await make(lab, status, home, other)
      outcomes[trigger] = await pull(lab, trigger, { home, caller, actionId })
      await lab.settle()
      lab.tick()
    }
    expect(outcomes).toEqual(cells)
  })
})

async function pull(
  lab: ActionLab,
  trigger: string,
  { home, caller, actionId }: { readonly home: Actor; readonly caller: Caller; readonly actionId: ActionId },
): Promise<string> {
  const [contract, body] = calls[trigger] ?? []
  if (!contract) throw new Error(`no call for ${trigger}`)
  const refusal = authorize(contract, caller)
  if (refusal) return codes[refusal] ?? refusal
  try {
    const call = { tenant: home.tenant, caller, params: { actionId }, ...(body ? { body } : {}) }
    await callEndpoint(lab.endpoints, contract, call as never)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === undefined) throw error
    return codes[code] ?? code
  }
  const { status = '', isMarked } = (await home.stored(actionId)) ?? {}
  return isMarked ? 'N' : status
}

async function connect({ db }: ActionLab, home: Actor, friend: IdTag): Promise<void> {
  await db.transact(home.tenant.tenantId, (tx) =>
    changeRelation(tx, friend, { connection: 'connected', isFollower: true, at: 1 }),
  )
}

/** An action in a status: the tenant's own, in a community its author's, or one from elsewhere. */
async function make(lab: ActionLab, status: string, home: Actor, other: Actor): Promise<ActionId> {
  const isClub = home.tenant.type === 'community'
  const author = isClub ? home.as(identity('author.example.org', { role: 'contributor' })) : home
  const post = { type: 'POST' as const, content: { text: 'a' }, visibility: 'P' as const }
  const idOf = async (made: Promise<{ actionId: string }>) => {
    const { actionId } = await made
    await lab.settle()
    return actionId as ActionId
  }
  switch (status) {
    case 'a draft':
      return idOf(author.create({ ...post, draft: true }))
    case 'a scheduled one':
      return idOf(author.create({ ...post, publishAt: later }))
    case 'a received one': {
      await lab.db.transact(home.tenant.tenantId, (tx) =>
        changeRelation(tx, other.idTag, {
          isFollowing: true,
          role: isClub ? 'contributor' : undefined,
          at: 1,
        }),
      )
      return idOf(other.create({ ...post, audienceTag: home.idTag }))
    }
    case 'a new one': {
      await lab.db.transact(other.tenant.tenantId, (tx) =>
        changeRelation(tx, home.idTag, { isFollowing: true, at: 1 }),
      )
      const parentId = await idOf(home.create({ ...post, audienceTag: other.idTag }))
      return idOf(other.create({ type: 'CMNT', parentId, content: { text: 'b' } }))
    }
    case 'a request':
      await idOf(other.create({ type: 'CONN', audienceTag: home.idTag, subType: 'DEL' }))
      lab.tick()
      return idOf(other.create({ type: 'CONN', audienceTag: home.idTag }))
    case 'a deleted one': {
      const actionId = await idOf(author.create(post))
      await author.remove(actionId)
      return actionId
    }
    case 'an expired one': {
      const expiresAt = Math.floor(lab.clock.now() / 1000) + 1
      const actionId = await idOf(author.create({ ...post, expiresAt }))
      lab.tick()
      return actionId
    }
    default:
      return idOf(author.create(post))
  }
}

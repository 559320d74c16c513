import { toIso } from '@kith/protocol'
import { withdrawSignedLater } from '#features/actions/index.ts'
import { auditCommand } from '#features/audit/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { argument, type Command, idTagArgument, timeOption, UsageError } from '../command.ts'
import { getHosted, withProgram } from '../open-program.ts'

export const revokeKey: Command = {
  name: 'keys revoke',
  summary: 'Distrust a signing key that was stolen; the tenant gets a new one if it is the current one.',
  description:
    'Other servers refuse what the key has signed since then, and withdraw what they hold of it, once they ask for the keys again: when they meet the new key, or within a day. A thief may date what is signed with the key back: name the time of the theft or an earlier one, `0` for everything. What the tenant made here stays here; what it published in that time is withdrawn elsewhere too, and is to be published again. A revocation cannot be taken back, only moved to an earlier time.',
  positionals: ['IDTAG', 'KID'],
  options: {
    since: {
      type: 'string',
      value: 'T',
      meaning: 'Since when: a time like `2027-01-31T12:00:00Z`, or Unix seconds; now when absent.',
    },
  },
  async run(input) {
    const idTag = idTagArgument(input)
    const kid = argument(input, 'KID')
    const given = timeOption(input, 'since')
    return withProgram(input, async (program) => {
      const { services } = program
      const { tenantId } = await getHosted(program, idTag)
      const now = nowSecs(services.clock)
      if (given !== undefined && given > now) throw new UsageError('--since is in the future')
      const done = await services.db.transact(tenantId, async (tx) => {
        const found = await services.signingKeys.revoke(tx, { kid, since: given ?? now })
        if (!found) return undefined
        const { revokedAt: since } = found.revoked
        await auditCommand(services, tx, { event: 'keys.revoked', details: { kid, since } })
        await withdrawSignedLater(services, tx, { issuerTag: idTag, kid, since })
        return found
      })
      if (!done) throw new Failure('E-NOTFOUND', { message: `${idTag} never had a key ${kid}.` })
      const { revoked, current, isRotated } = done
      const { revokedAt } = revoked
      const next = isRotated ? `, and ${idTag} signs with ${current.kid} from now on` : ''
      return {
        text: `The key ${kid} is distrusted since ${toIso(revokedAt)}${next}.`,
        data: {
          idTag,
          kid,
          revokedAt,
          isRotated,
          current: { kid: current.kid, publicKey: current.publicKey },
        },
      }
    })
  },
}

import type { Question, ResourceRecord, ResponseContent } from '#infra/dns-server/index.ts'
import { withName } from './identity-records.ts'
import type { ZoneMemory } from './zone-memory.ts'

const longestChain = 8

/** Answers a question, through aliases within the zones; the code is that of the last name (RFC 6604). */
export async function answerQuestion(
  zones: Pick<ZoneMemory, 'find' | 'soaOf'>,
  { name, type }: Question,
): Promise<ResponseContent> {
  const answers: ResourceRecord[] = []
  const passed = new Set<string>()
  let node = await zones.find(name)
  if (!node) return { rcode: 'REFUSED' }
  for (let at = name; ; ) {
    if (at === node.zone.idTag && type === 'SOA') answers.push(await zones.soaOf(node.zone))
    const matching = node.records.filter((record) => record.type === type)
    answers.push(...withName(at, node.ttl, matching))
    const alias = node.records.find((record) => record.type === 'CNAME')
    if (alias?.type !== 'CNAME' || type === 'CNAME') break
    answers.push(...withName(at, node.ttl, [alias]))
    passed.add(at)
    at = alias.data
    const next = await zones.find(at)
    if (!next || passed.has(at) || passed.size >= longestChain)
      return { rcode: 'NOERROR', isAuthoritative: true, answers }
    node = next
  }
  const rcode = node.kind === 'absent' ? 'NXDOMAIN' : 'NOERROR'
  const isFound = answers.some((record) => record.type === type)
  return { rcode, isAuthoritative: true, answers, authority: isFound ? [] : [await zones.soaOf(node.zone)] }
}

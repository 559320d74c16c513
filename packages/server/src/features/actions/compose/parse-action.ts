import {
  type ActionMember,
  type ActionType,
  type ActionTypeName,
  type FileId,
  findActionType,
  type IdTag,
  maxTimestamp,
  parseActionId,
  parseFileId,
  parseIdTag,
  type ValidationIssue,
  type Visibility,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { Failure } from '#lib/failure.ts'
import { type ActionBody, endingSubType } from '../action.ts'

/** An action as it comes from a request or a token. */
export interface ActionInput {
  readonly type: string
  readonly subType?: string | undefined
  readonly parentId?: string | undefined
  readonly rootId?: string | undefined
  readonly audienceTag?: string | undefined
  readonly audience?: readonly string[] | undefined
  readonly content?: Readonly<Record<string, unknown>> | undefined
  readonly attachments?: readonly string[] | undefined
  readonly subject?: string | undefined
  readonly expiresAt?: number | undefined
  readonly visibility?: Visibility | undefined
  readonly flags?: string | undefined
  readonly x?: Readonly<Record<string, unknown>> | undefined
}

const everybody = 'public'
// `x` travels with every copy of the action.
const maxExtraBytes = 16_384
// A URL parser would repair blanks and missing slashes; here they are refused.
const webAddress = /^https?:\/\/[^\s\\]+$/i
const plainText = /^[^\p{Cc}\p{Cs}]*$/u

// One validator per type, compiled at the first use.
const contentChecks = new Map<string, ReturnType<typeof Compile>>()

/** Checks an action against the data of its type. `E-VALIDATION` lists everything that is wrong. A malformed id is
 * answered like an unknown one. */
export function parseAction(input: ActionInput): ActionBody {
  const type = findActionType(input.type)
  if (!type) throw refusal([{ path: '/type', message: 'is not a known action type' }])
  return { ...parseMembers(type, input), type: type.type as ActionTypeName }
}

type ActionMembers = Omit<ActionBody, 'type'>

/** The same for a type that is known, also one that servers alone make (STAT, ANNC). */
export function parseMembers(type: ActionType, input: Omit<ActionInput, 'type'>): ActionMembers {
  const audience = parseAudience(input)
  const body = {
    subType: input.subType,
    parentId: parsedId(input.parentId),
    rootId: parsedId(input.rootId),
    audienceTag: audience.audienceTag,
    audience: audience.members,
    content: type.content ? input.content : undefined,
    attachments: parseAttachments(input.attachments),
    subject: parseSubject(type, input.subject),
    expiresAt: input.expiresAt,
    visibility: audience.isPublic ? 'P' : input.visibility,
    flags: input.flags,
    x: input.x,
  }
  const issues = [
    ...audience.issues,
    ...memberIssues(type, body),
    ...contentIssues(type, body),
    ...textIssues(body),
    ...addressIssues(type, body),
    ...timeIssues(body),
  ]
  if (issues.length > 0) throw refusal(issues)
  return body
}

function refusal(issues: readonly ValidationIssue[]): Failure {
  return new Failure('E-VALIDATION', { details: { issues } })
}

function parsedId(text: string | undefined) {
  if (text === undefined) return undefined
  const actionId = parseActionId(text)
  if (!actionId) throw new Failure('E-ACTION-NOTFOUND')
  return actionId
}

/** The subject, where it is what its type says that it is. */
function parseSubject({ subject: kind }: ActionType, text: string | undefined): string | undefined {
  if (text === undefined || kind === 'words') return text
  if (kind === 'action') return parsedId(text)
  if (kind === 'file') return parsedFileId(text)
  if (parseIdTag(text) !== text) throw refusal([{ path: '/subject', message: 'is not an identity' }])
  return text
}

function parseAttachments(texts: readonly string[] = []): FileId[] {
  return [...new Set(texts)].map(parsedFileId)
}

function parsedFileId(text: string): FileId {
  const fileId = parseFileId(text)
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  return fileId
}

interface ParsedAudience {
  readonly audienceTag: IdTag | undefined
  readonly members: readonly IdTag[]
  readonly isPublic: boolean
  readonly issues: readonly ValidationIssue[]
}

/** `['public']` means visibility P. One named identity means the same as `audienceTag`. */
function parseAudience({
  audienceTag,
  audience = [],
  visibility,
}: Omit<ActionInput, 'type'>): ParsedAudience {
  const issues: ValidationIssue[] = []
  const isPublic = audience.includes(everybody)
  if (isPublic && visibility !== undefined && visibility !== 'P')
    issues.push({ path: '/audience', message: `"${everybody}" contradicts the visibility` })
  const parse = (text: string, path: string) => {
    const idTag = parseIdTag(text)
    if (!idTag) issues.push({ path, message: 'is not an identity' })
    return idTag
  }
  const tag = audienceTag === undefined ? undefined : parse(audienceTag, '/audienceTag')
  const members = audience.flatMap((text, at) =>
    text === everybody ? [] : (parse(text, `/audience/${at}`) ?? []),
  )
  const [only, another] = members
  const isSingle = audienceTag === undefined && only !== undefined && another === undefined
  return { audienceTag: isSingle ? only : tag, members: [...new Set(members)], isPublic, issues }
}

function memberIssues(type: ActionType, body: ActionMembers): ValidationIssue[] {
  const isGiven = (member: ActionMember) => {
    const value = body[member]
    return Array.isArray(value) ? value.length > 0 : value !== undefined
  }
  const { requires, requiresOneOf = [], forbids } = type
  const isEnding = body.subType === endingSubType
  const missing = requires.filter((member) => !isGiven(member) && !(isEnding && member === 'content'))
  const unwanted = forbids.filter(isGiven)
  const lacksAll = requiresOneOf.length > 0 && !requiresOneOf.some(isGiven)
  return [
    ...missing.map((member) => ({ path: `/${member}`, message: `is required for ${type.type}` })),
    ...unwanted.map((member) => ({ path: `/${member}`, message: `is not allowed for ${type.type}` })),
    ...(lacksAll
      ? [{ path: `/${requiresOneOf[0]}`, message: `one of ${requiresOneOf.join(', ')} is required` }]
      : []),
    ...subTypeIssues(type, body.subType),
    ...(type.defaultVisibility === 'direct' && body.visibility
      ? [{ path: '/visibility', message: `${type.type} is always direct` }]
      : []),
  ]
}

function subTypeIssues(type: ActionType, subType: string | undefined): ValidationIssue[] {
  if (subType === undefined) return []
  const isAllowed =
    subType === endingSubType ? type.canEnd === true : (type.subTypes?.includes(subType) ?? true)
  return isAllowed ? [] : [{ path: '/subType', message: `is not a sub-type of ${type.type}` }]
}

function contentIssues(type: ActionType, { content, subType }: ActionMembers): ValidationIssue[] {
  if (!type.content || content === undefined || subType === endingSubType) return []
  let check = contentChecks.get(type.type)
  if (!check) {
    check = Compile(type.content)
    contentChecks.set(type.type, check)
  }
  if (check.Check(content)) return []
  return check
    .Errors(content)
    .map((issue) => ({ path: `/content${issue.instancePath}`, message: issue.message }))
}

/** `content.url`, where the type has this member, must be a complete http or https address, because clients make a link
 * of it. */
function addressIssues(type: ActionType, { content, subType }: ActionMembers): ValidationIssue[] {
  const url = content?.url
  const isKnown = type.content !== undefined && 'url' in type.content.properties
  if (!isKnown || typeof url !== 'string' || subType === endingSubType) return []
  const isAddress = webAddress.test(url) && URL.canParse(url)
  return isAddress ? [] : [{ path: '/content/url', message: 'must be an address with http or https' }]
}

/** Texts that become columns or are compared must not hold control characters or lone surrogates. `x` has a largest
 * size. */
function textIssues({ subject, subType, flags, x }: ActionMembers): ValidationIssue[] {
  const odd = Object.entries({ subject, subType, flags }).filter(
    ([, text]) => text !== undefined && !plainText.test(text),
  )
  const isLarge = x !== undefined && Buffer.byteLength(JSON.stringify(x)) > maxExtraBytes
  return [
    ...odd.map(([name]) => ({ path: `/${name}`, message: 'must be plain text' })),
    ...(isLarge ? [{ path: '/x', message: `must be at most ${maxExtraBytes} bytes of JSON` }] : []),
  ]
}

/** Receivers read a larger number as milliseconds, and refuse the token. */
function timeIssues({ expiresAt }: ActionMembers): ValidationIssue[] {
  const isFit = expiresAt === undefined || (expiresAt >= 0 && expiresAt <= maxTimestamp)
  return isFit ? [] : [{ path: '/expiresAt', message: 'must be before the year 5138' }]
}

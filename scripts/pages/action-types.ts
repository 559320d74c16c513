import type { TSchema } from 'typebox'
import {
  type ActionMember,
  type ActionType,
  actionTypes,
  maxTimestamp,
  type StrangerRule,
  type StrangerSetting,
  type SubjectKind,
  serverActionTypes,
} from '../../packages/protocol/src/index.ts'
import type { Page } from './page.ts'

const introduction = `# Types of actions

Generated from \`packages/protocol/src/actions\` by \`npm run docs\`; change it there.

What the members of an action are is in [action-tokens.md](action-tokens.md), what the two sides of one must agree on in
[actions.md](actions.md), and cases to test with in \`vectors/actions\`. Lengths of texts are counted in Unicode code points. Members of
\`content\` beyond those that are listed are kept and passed on as they are given. A receiver refuses an action that does not
meet its type; so does the API, with 400, or 404 where an id has not its form.

- **Required** and **not allowed** are members of the action. What a deletion or an ending (\`subType: "DEL"\`) needs is in
  [actions.md](actions.md#taking-back). The token of a MSG has an audience, also where it has a \`parentId\`
  ([actions.md](actions.md#messages)).
- **Sub-types**: what \`subType\` may be. Deleting an action is possible for every type and is no sub-type of it.
- **One of a kind**: a newer action of the issuer with the same values of these members takes the place of the older one.
- **Names its target by** is the member for the hash of the token that it says something about ([actions.md](actions.md#what-an-action-is-about)).
- **Subject**: what a \`subject\` is where there is one; another is refused. Words may be an id as well; they go with the end of the action ([action-life.md](action-life.md#what-goes)).
- **Arrives as** is the status at a receiver: A is active, C awaits the receiver's answer.
- **From strangers**: what a receiver does with one from an identity that it neither follows nor is connected with; a community with one from
  who is no contributor. *Addressed* is what names the receiver as \`audienceTag\` or in \`audience\`; what only names it, as its subject for
  instance, is taken. See [actions.md](actions.md#strangers).
- **Made without a visibility**: what its server makes of it when neither its maker nor the tenant's setting says one.
`

/** The page for authors of other servers about every type of action. */
export const actionTypesPage: Page = {
  path: 'docs/protocol/action-types.md',
  render: () =>
    [
      introduction,
      ...Object.values<ActionType>(actionTypes).map(section),
      '## Between servers alone\n\nNo caller makes these, and no list shows them.\n',
      ...Object.values<ActionType>(serverActionTypes).map(serverSection),
    ].join('\n'),
}

const receivers: Record<ActionType['receivers'], string> = {
  audience: 'its audience',
  'audience-or-circle':
    'its audience; without one the followers and connections of the issuer, as far as its visibility reaches',
  circle: 'the followers and connections of the issuer, as far as its visibility reaches',
  parent:
    'the issuer and the audience of its parent and of the root, and through the root’s issuer the thread’s readers',
  subject: 'the issuer of its subject',
  nobody: 'nobody elsewhere',
}

const visibilities: Record<NonNullable<ActionType['defaultVisibility']>, string> = {
  P: 'everybody (P)',
  direct: 'its issuer and its audience; nothing else may be said',
  inherited: 'the readers of the root',
}

function section(type: ActionType): string {
  return described(type, { ...membersOf(type), ...waysOf(type) })
}

function serverSection(type: ActionType): string {
  const { lifetimeSecs = 0 } = type
  return described(type, {
    ...membersOf(type),
    'A token is good for': `at most ${lifetimeSecs / 86_400} days after its \`iat\``,
  })
}

function described(type: ActionType, facts: Record<string, string | undefined>): string {
  const rows = Object.entries(facts).filter(([, value]) => value !== undefined)
  return [
    `### ${type.type}`,
    '',
    type.meaning,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${cell(value ?? '')} |`),
    '',
    ...contentTable(type),
  ].join('\n')
}

function membersOf(type: ActionType): Record<string, string | undefined> {
  const { requires, requiresOneOf = [], forbids } = type
  const oneOf = requiresOneOf.length > 0 ? [`one of ${listed(requiresOneOf.map(code))}`] : []
  return {
    Required: listed([...requires.map(code), ...oneOf]),
    'Not allowed': listed(forbids.map(code)),
    'Sub-types': subTypesOf(type),
    Subject: forbids.includes('subject') ? undefined : subjects[type.subject],
  }
}

const subjects: Record<SubjectKind, string> = {
  action: 'the id of an action',
  file: 'the id of a file',
  identity: 'an identity in canonical form',
  words: 'any words, which go with its end',
}

const hashMembers = { subject: 'subjectHash', parentId: 'parentHash' }

function waysOf({
  uniqueBy,
  endorses,
  defaultVisibility,
  ...way
}: ActionType): Record<string, string | undefined> {
  return {
    'One of a kind': uniqueBy && `per ${listed(uniqueBy.map(code))}`,
    'Names its target by': endorses && code(hashMembers[endorses]),
    Receivers: receivers[way.receivers],
    'From strangers': fromStrangers(way.fromStrangers),
    'Arrives as': way.receivers === 'nobody' ? undefined : way.arrivesAs,
    'Made without a visibility':
      defaultVisibility === null ? 'its issuer and whom it names' : visibilities[defaultVisibility],
  }
}

function fromStrangers(rule: StrangerRule): string {
  if (rule === 'taken') return 'taken'
  if (rule === 'request') return 'taken, as a request that waits for an answer'
  if (rule === 'refused') return 'refused'
  const { persons, communities, onReadable } = rule
  const refused = (setting: StrangerSetting | 'refused') =>
    setting === 'refused' ? 'refused' : `refused unless ${code(setting)} is on`
  const answers = onReadable ? 'taken on what is held and the stranger may read; else ' : 'addressed: '
  const both = persons === communities
  return `${answers}${both ? refused(persons) : `${refused(persons)}, by communities ${refused(communities)}`}`
}

function subTypesOf({ subTypes, canEnd }: ActionType): string {
  const own = subTypes === undefined ? ['any of at most 32 characters'] : subTypes.map(code)
  return listed([...own, ...(canEnd ? [`${code('DEL')}: ends what an earlier one began`] : [])]) ?? 'none'
}

interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly 'x-decode'?: string
}

function contentTable({ content }: ActionType): string[] {
  if (!content) return ['No content: what is given is dropped.', '']
  const required = new Set<string>(content.required)
  const rows = Object.entries<TSchema>(content.properties).map(
    ([name, schema]) =>
      `| ${code(name)}${required.has(name) ? ', required' : ''} | ${cell(shown(schema as JsonSchema))} |`,
  )
  return ['| Member of `content` | |', '|---|---|', ...rows, '']
}

function shown(schema: JsonSchema): string {
  if (schema['x-decode'] === 'timestamp') return `Unix seconds up to ${maxTimestamp}, or ISO 8601 with a zone`
  if (schema.enum) return `one of ${listed(schema.enum.map(code))}`
  if (schema.type === 'integer') return `a whole number, ${schema.minimum} to ${schema.maximum}`
  const { minLength = 0, maxLength, description } = schema
  const meaning = description === undefined ? '' : `: ${description}`
  if (schema.items) return `at most ${schema.maxItems} of: ${shown(schema.items)}${meaning.replace(':', ';')}`
  if (schema.type === 'object') {
    const [each] = Object.values(schema.patternProperties ?? {})
    const size = each ? ` of ${each.minLength ?? 0} to ${each.maxLength} characters` : ''
    return `an object of at most ${schema.maxProperties} texts${size}${meaning}`
  }
  if (schema.pattern) return `text of the form ${code(schema.pattern)}${meaning}`
  const length = maxLength === undefined ? '' : `, ${minLength} to ${maxLength} characters`
  return `text${length}${meaning}`
}

function listed(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : words.join(', ')
}

function code(text: ActionMember | string): string {
  return `\`${text}\``
}

function cell(markdown: string): string {
  return markdown.replaceAll('|', '\\|')
}

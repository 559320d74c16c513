import type { Device } from './device.ts'
import { type Step, step } from './stage.ts'

export const ben = { idTag: 'ben.street.localhost', email: 'ben@example.org', password: 'a password of Ben' }

async function tellsName(person: Device, name: string): Promise<void> {
  await person.goesTo('People')
  await person.page.getByRole('list', { name: 'Your profile' }).getByRole('link').click()
  await person.presses('Edit profile')
  await person.fills('Name', name)
  await person.presses('Save')
  await person.seesScreen(name)
}

export const arriving: readonly Step[] = [
  step('Anna signs in on her own server', async ({ anna }, { annas, urlOf }) => {
    await anna.opens(`${urlOf(annas.idTag)}/home`)
    await anna.fills('Password', annas.password)
    await anna.presses('Sign in')
    await anna.seesScreen('Home')
    return [anna]
  }),

  step('and says who she is', async ({ anna }) => {
    await tellsName(anna, 'Anna Berg')
    return [anna]
  }),

  step('Ben opens his invitation to the server of the street', async (cast, stage) => {
    await cast.ben.opens(await stage.invite())
    await cast.ben.fills('Name', 'ben')
    await cast.ben.fills('E-mail address', ben.email)
    await cast.ben.presses('Register')
    await cast.ben.sees('Your account is made')
    return [cast.ben]
  }),

  step('follows the link of the mail, and chooses a password', async (cast, stage) => {
    await cast.ben.opens(await stage.linkMailedTo(ben.email))
    await cast.ben.fills('New password', ben.password)
    await cast.ben.fills('The same again', ben.password)
    await cast.ben.presses('Set the password')
    await cast.ben.seesScreen('First steps')
    return [cast.ben]
  }),

  step('adds a passkey, and signs in with it', async (cast) => {
    await cast.ben.follows('You')
    await cast.ben.follows(/^Signing in/)
    await cast.ben.presses('Add a passkey')
    await cast.ben.sees('The passkey was added.')
    await cast.ben.follows('You')
    await cast.ben.presses('Sign out')
    await cast.ben.presses('Sign in with a passkey')
    await cast.ben.seesScreen('Home')
    await tellsName(cast.ben, 'Ben Okafor')
    return [cast.ben]
  }),

  step('Ben looks Anna up by her identity, and asks for a connection', async (cast, stage) => {
    await cast.ben.goesTo('People')
    await cast.ben.fills('Search people', stage.annas.idTag)
    await cast.ben.presses('Look up')
    await cast.ben.page
      .getByRole('list', { name: 'Look up' })
      .getByRole('link', { name: /Anna Berg/ })
      .click()
    await cast.ben.presses('Connect')
    await cast.ben.fills('Message with it (optional)', 'I am the one with the dog, from number seven.')
    await cast.ben.presses('Send the request')
    await cast.ben.sees('Anna Berg was asked.')
    return [cast.ben]
  }),

  step('Anna is told, and accepts; Ben sees it while he looks', async ({ anna, ben }) => {
    await anna.follows('Notifications (1 new)')
    await anna.sees('I am the one with the dog, from number seven.')
    await anna.presses('Accept: Ben Okafor')
    await anna.sees('Accepted.')
    await ben.sees('Connected')
    return [anna, ben]
  }),
]

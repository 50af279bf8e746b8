/** Where the server has what each start asks for. */

/** Whom the browser host knows. */
export const HOST_USER = '/bff/user';
/** Who the API takes this for. */
export const ME = '/api/v1/me';
/** What sets there are for this person. */
export const METADATA = '/odata/v1/$metadata?$format=json';
/** What else this page goes by. */
export const START = '/api/v1/web/start';
/** Apps that modules bring with scripts of their own. */
export const APPS = '/api/v1/apps';
/** Documents of the person's own. */
export const PROFILE = '/api/v1/profile';

/** Where a document of the person's own lies. */
export function profileOf(key: string): string {
  return `${PROFILE}?key=${encodeURIComponent(key)}`;
}

/** The texts of modules in a language. */
export function messagesIn(language: string): string {
  return `/api/v1/messages/${language}`;
}

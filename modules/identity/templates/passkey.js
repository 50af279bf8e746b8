'use strict';
(() => {
  const read = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
  const written = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const named = (names) => names.map((name) => ({ type: 'public-key', id: read(name) }));
  async function use(asked) {
    const { challenge, rpId, timeout, credentials, userVerification } = asked;
    const publicKey = { challenge: read(challenge), rpId, timeout, userVerification, allowCredentials: named(credentials) };
    const { rawId, response } = await navigator.credentials.get({ publicKey });
    return {
      id: written(rawId),
      user: response.userHandle ? written(response.userHandle) : '',
      clientData: written(response.clientDataJSON),
      authenticatorData: written(response.authenticatorData),
      signature: written(response.signature),
    };
  }
  async function make(asked) {
    const { challenge, rpId, rpName, timeout, credentials, algorithms, user } = asked;
    const publicKey = {
      challenge: read(challenge),
      rp: { id: rpId, name: rpName },
      user: { ...user, id: read(user.id) },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout,
      excludeCredentials: named(credentials),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
    };
    const { response } = await navigator.credentials.create({ publicKey });
    return {
      clientData: written(response.clientDataJSON),
      authenticatorData: written(response.getAuthenticatorData()),
      publicKey: written(response.getPublicKey()),
      algorithm: response.getPublicKeyAlgorithm(),
    };
  }
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    if (!globalThis.PublicKeyCredential) continue;
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const [button, problem] = [form.querySelector('button'), form.querySelector('[role=alert]')];
      const asked = JSON.parse(form.dataset.passkey);
      button.disabled = true;
      problem.hidden = true;
      try {
        const answer = await (asked.user ? make(asked) : use(asked));
        form.elements.namedItem('answer').value = JSON.stringify(answer);
        form.submit();
      } catch {
        problem.hidden = false;
        button.disabled = false;
      }
    });
  }
})();

"use strict";

SwaggerUIBundle({
  url: "/openapi/v1.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});

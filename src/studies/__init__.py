"""The studies: questions to finished cells and unions, one module each; pure, no model is called."""

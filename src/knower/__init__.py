"""The simulated knower: a model whose knowledge is planted, so that every estimator can be shown its own error."""

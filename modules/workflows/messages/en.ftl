permission-Workflows-View = See where records stand in their workflow
permission-Workflows-Act = Take records from state to state, as their workflow lets one
permission-Workflows-Reassign = Hand on what awaits others, and say who stands in for whom
permission-Workflows-Designer-Manage = Draw and publish workflows, and move records between them

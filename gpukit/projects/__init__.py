"""New projects from templates: shipped ones, and a platform team's own with questions, limits and updates."""
